// Package flags fills the settings of a command from its flags, the environment, a
// config file and the model file.
package flags

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// Settings are the values that steer a fit, from any source. Each field of it or of Fit has
// the name of its row in the table of settings.
type Settings struct {
	Fit        plan.Config // a zero value leaves the decision to plan.New
	AcceptRisk []string
	Formats    []string

	Model, Out, Device string
	Ledger             string
	Precision          string
	Table              string
	Threads, Draws     int
	CheckpointEvery    int // s
	MaxMemory          int // MB
	Repeat             int // 0 means 1
	Seed               uint64

	Values  map[string]any    // of the settings that have a value
	Sources map[string]string // of every setting, by name
	Beside  map[string]bool   // settings with a value from outside the model file

	open    map[string]bool // settings that a source outside the model file leaves to the program
	environ Environment
}

// Clone is a copy for use with another model file.
func (s *Settings) Clone() *Settings {
	clone := *s
	clone.Values, clone.Sources, clone.Beside, clone.open = maps.Clone(s.Values), maps.Clone(s.Sources), maps.Clone(s.Beside), maps.Clone(s.open)
	return &clone
}

// Given reports whether a flag, a variable, the config file or the model file gave the
// setting a value.
func (s *Settings) Given(name string) bool { return s.Values[name] != nil }

// store sets the field of a setting.
func (s *Settings) store(name string, value any) {
	s.Values[name] = value
	if settings.Has(s, name) {
		settings.Set(s, name, value)
	} else {
		settings.Set(&s.Fit, name, value)
	}
}

// settingFlag is the text of a setting's flag; Resolve reads it.
type settingFlag struct {
	kind settings.Kind
	text string
}

func (f *settingFlag) String() string        { return f.text }
func (f *settingFlag) Set(text string) error { f.text = text; return nil }

// Type is the word for the value in the help text and the man page.
func (f *settingFlag) Type() string {
	switch f.kind {
	case settings.Number:
		return "float64"
	case settings.Count:
		return "int"
	case settings.Seed:
		return "uint64"
	case settings.Words:
		return "strings"
	}
	return "string"
}

// Define adds the flags of the given groups, and --config, to c and returns their
// resolved values.
func Define(c *cobra.Command, groups ...settings.Group) *Settings {
	c.Flags().SortFlags = false
	for _, row := range settings.Table() {
		if slices.Contains(groups, row.Group) {
			c.Flags().Var(&settingFlag{kind: row.Kind}, row.Name, row.Usage())
			if len(row.Choices) > 0 {
				CompleteWords(c, row.Name, row.Choices)
			}
		}
	}
	c.Flags().String("config", "", "run settings `FILE` (TOML, YAML or JSON; its keys are flag names)")
	c.MarkFlagFilename("config", "toml", "yaml", "json")
	c.MarkFlagFilename("model", "yaml", "yml")
	return &Settings{Sources: map[string]string{}, Values: map[string]any{}, open: map[string]bool{}}
}

// AcceptOldNames accepts flags under their former names, each with a note, and refuses empty
// names of files.
func AcceptOldNames(c *cobra.Command, notef func(format string, args ...any)) {
	var notes []string
	c.SetGlobalNormalizationFunc(func(set *pflag.FlagSet, name string) pflag.NormalizedName {
		if other := plural[name]; other != "" && defines(set, other) {
			return pflag.NormalizedName(other)
		}
		for _, row := range settings.Table() {
			if slices.Contains(row.Old, name) {
				note := fmt.Sprintf("--%s is an old name of --%s", name, row.Name)
				if !slices.Contains(notes, note) { // pflag asks for a name several times
					notes = append(notes, note)
				}
				return pflag.NormalizedName(row.Name)
			}
		}
		return pflag.NormalizedName(name)
	})
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		for _, note := range notes {
			notef("note: %s", note)
		}
		return filesNamed(c)
	}
}

// plural pairs the two spellings of a flag: a command that has one takes the other.
var plural = map[string]string{"format": "formats", "formats": "format"}

// defines reports whether a set has a flag of exactly that name.
func defines(set *pflag.FlagSet, name string) (has bool) {
	set.VisitAll(func(f *pflag.Flag) { has = has || f.Name == name })
	return has
}

// filesNamed refuses an empty name of a file, as an unset variable of a shell gives it: a fit
// with --ledger "" would be in no ledger.
func filesNamed(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		what, _ := pflag.UnquoteUsage(f)
		if err == nil && (what == "FILE" || what == "FOLDER") && f.Value.String() == "" {
			err = status.Usagef("--%s: \"\" names no %s", f.Name, strings.ToLower(what))
		}
	})
	return err
}

// wholeFlag is a command's own flag that reads whole numbers as settings do.
type wholeFlag struct{ pflag.Value }

func (f wholeFlag) Set(text string) error {
	n, ok := settings.Whole(text)
	if !ok {
		return strconv.ErrSyntax
	}
	return f.Value.Set(strconv.Itoa(n))
}

// ReadWholeNumbers makes the flags of c that are no settings accept the whole numbers that
// settings accept: 010 is ten and 1e3 a thousand.
func ReadWholeNumbers(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Value.(*settingFlag); !ok && strings.HasPrefix(f.Value.Type(), "int") {
			f.Value = wholeFlag{f.Value}
		}
	})
}

// Read reads the flags of c that are settings, but not those in other. It is for commands
// with few settings and no file.
func Read(c *cobra.Command, other ...string) error {
	for _, row := range settings.Table() {
		f := c.Flags().Lookup(row.Name)
		if f == nil || !f.Changed || slices.Contains(other, row.Name) {
			continue
		}
		value, mistake := row.Read(f.Value.String())
		if mistake != nil {
			return status.Usagef("--%s: %w", row.Name, mistake)
		}
		f.Value.Set(row.Print(value))
	}
	return nil
}

// Applied lists every setting of the command with the value that the plan uses and the
// value's source. It leaves out file names, which a release should not reveal.
func (s *Settings) Applied(c *cobra.Command, plan *plan.Plan, draws int) ([]report.Applied, error) {
	raw, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	planned := map[string]any{} // a plan's fields have the names of the settings
	if err := json.Unmarshal(raw, &planned); err != nil {
		return nil, err
	}
	planned["draws"] = draws // of the release, not of a step
	var list []report.Applied
	for _, row := range settings.Table() {
		if c.Flags().Lookup(row.Name) == nil || row.File {
			continue
		}
		value, ok := planned[row.Field()]
		if !ok && s.Given(row.Name) {
			value = row.Print(s.Values[row.Name])
		}
		list = append(list, report.Applied{Name: row.Name, Value: value, Source: s.Sources[row.Name]})
	}
	return list, nil
}

// Command is the command line with all settings from outside the model file, without file
// names.
func (s *Settings) Command(c *cobra.Command) []string {
	words := []string{c.CommandPath()}
	for _, row := range settings.Table() {
		switch {
		case row.File:
		case s.open[row.Name]:
			words = append(words, fmt.Sprintf("--%s=%s", row.Name, settings.Auto))
		case s.Beside[row.Name]:
			words = append(words, fmt.Sprintf("--%s=%s", row.Name, row.Print(s.Values[row.Name])))
		}
	}
	return words
}
