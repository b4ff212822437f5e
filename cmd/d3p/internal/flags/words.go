package flags

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/spell"
	"d3p/internal/status"
)

// CompleteWords proposes words for a flag.
func CompleteWords(c *cobra.Command, flag string, words []string) {
	c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(slices.Clone(words), cobra.ShellCompDirectiveNoFileComp))
}

// CheckWords refuses a word that is not in known.
func CheckWords(flag string, words, known []string) error {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return status.Usagef("%s: no %s%s; one of %s", flag, w, spell.Hint(w, known), strings.Join(known, ", "))
		}
	}
	return nil
}
