package spell

import "strings"

// Suggest returns the hint for an unknown word: the nearest known one, or else a short list
// of known ones.
func Suggest(word, noun string, known []string) string {
	list := ""
	if len(known) > 0 && len(known) <= 24 {
		list = noun + ": " + strings.Join(known, ", ")
	}
	return Question(word, known, list)
}
