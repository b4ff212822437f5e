package flags

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"d3p/internal/settings"
)

// The help of a command with settings has every flag once, settings under their headings, and no long line.
func TestHelpOfFlags(t *testing.T) {
	c := &cobra.Command{Use: "fit"}
	Define(c, settings.Algorithm, settings.Price, settings.Running)
	text := help(c.Flags(), 100)
	for _, row := range settings.Table() {
		if n := strings.Count(text, "      --"+row.Name+" "); n != 1 {
			t.Errorf("--%s is there %d times", row.Name, n)
		}
	}
	order := []string{"\n  Privacy\n", "--epsilon", "\n  Clipping\n", "--clip-norm ", "\n  Machine\n", "--device", "\n  Other\n", "--config"}
	at := 0
	for _, want := range order {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("no %q after %q", want, text[:at])
		}
		at += next
	}
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > 100 {
			t.Errorf("a line of %d letters: %s", utf8.RuneCountInString(line), line)
		}
	}
	plain := &cobra.Command{Use: "version"}
	plain.Flags().Int("steps", 1, "number of steps")
	if got := help(plain.Flags(), 100); got != "      --steps int   number of steps (default 1)" {
		t.Errorf("%q", got)
	}
}
