package spec

import (
	"strings"

	"d3p/internal/spell"
)

// suggest returns the hint for a word that is none of the known ones: the
// nearest of them, or else their list when it is short.
func suggest(word, noun string, known []string) string {
	if n := spell.Name(word, known); n != "" {
		return "did you mean " + n + "?"
	}
	if len(known) == 0 || len(known) > 24 {
		return ""
	}
	return noun + ": " + strings.Join(known, ", ")
}
