// Package spell finds the known name that a user probably meant.
package spell

import "strings"

// Name returns the element of known closest to word, or "" when none is close.
// Close means an optimal string alignment distance (insertions, deletions,
// substitutions and swaps of neighbours) of at most a third of the longer
// length, of at most 3, and with something in common; or word is how a name begins, by
// three letters or more. A name that differs in case alone is nearest, then one that word
// begins; other ties go to the earlier element.
func Name(word string, known []string) string {
	best, bestDistance := "", 4
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		longer := max(len(word), len(k))
		limit := min(max(1, longer/3), longer-1)
		d := distance(word, k)
		if len(word) >= 3 && strings.HasPrefix(k, word) {
			d = 0
		}
		if d <= limit && d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// Hint returns " (did you mean NAME?)" for the nearest name, or "".
func Hint(word string, known []string) string {
	if q := Question(word, known, ""); q != "" {
		return " (" + q + ")"
	}
	return ""
}

// Question is "did you mean NAME?" for the nearest name; without a near name it is
// otherwise.
func Question(word string, known []string, otherwise string) string {
	if n := Name(word, known); n != "" {
		return "did you mean " + n + "?"
	}
	return otherwise
}

// distance is the optimal string alignment distance, with three rolling rows.
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	previous := make([]int, len(b)+1)
	current := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
