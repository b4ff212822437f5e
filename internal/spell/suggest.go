package spell

import "strings"

// Suggest returns the hint for an unknown word: the nearest known one,
// or else their list when it is short.
func Suggest(word, noun string, known []string) string {
	if n := Name(word, known); n != "" {
		return "did you mean " + n + "?"
	}
	if len(known) == 0 || len(known) > 24 {
		return ""
	}
	return noun + ": " + strings.Join(known, ", ")
}
