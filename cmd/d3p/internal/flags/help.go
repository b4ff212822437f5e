package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"d3p/internal/settings"
)

// flagHelp is the name of help in a template.
const flagHelp = "flagHelp"

func init() { cobra.AddTemplateFunc(flagHelp, help) }

// UsageTemplate is cobra's template of the usage, with the flags as help writes them.
func UsageTemplate(ofCobra string, width int) string {
	for _, set := range []string{".LocalFlags", ".InheritedFlags"} {
		ofCobra = strings.Replace(ofCobra, "{{"+set+".FlagUsages | trimTrailingWhitespaces}}", fmt.Sprintf("{{%s %s %d}}", flagHelp, set, width), 1)
	}
	return ofCobra
}

// help describes the flags of a set in lines of at most width letters. Flags that Define made stand
// under the headings of the table of settings, before the others.
func help(set *pflag.FlagSet, width int) string {
	sections, left := map[string]*pflag.FlagSet{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	left.SortFlags = set.SortFlags
	var headings []string
	heading, of := "", map[string]string{}
	for _, row := range settings.Table() {
		if row.Heading != "" {
			heading = row.Heading
			headings = append(headings, heading)
			sections[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
			sections[heading].SortFlags = false
		}
		of[row.Name] = heading
	}
	set.VisitAll(func(f *pflag.Flag) {
		section := left
		if _, ok := f.Value.(*settingFlag); ok {
			section = sections[of[f.Name]]
		}
		section.AddFlag(f)
	})
	var b strings.Builder
	for _, h := range headings {
		if sections[h].HasAvailableFlags() {
			fmt.Fprintf(&b, "\n  %s\n%s", h, sections[h].FlagUsagesWrapped(width))
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n  Other\n")
	}
	return strings.TrimRight(b.String()+left.FlagUsagesWrapped(width), " \n")
}
