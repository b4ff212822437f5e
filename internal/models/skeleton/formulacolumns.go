package skeleton

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"d3p/internal/spell"
)

// needed returns the columns, by their plain names, in a formula: all columns without a
// formula, or if it has a point. For an unknown word it returns the most similar column,
// so that the check can name it.
func (k Known) needed(columns []string) func(name string) bool {
	if k.Formula == "" || everyOther.MatchString(k.Formula) {
		return func(string) bool { return true }
	}
	words := strings.FieldsFunc(k.Formula, func(r rune) bool { return !isWord(r) })
	for i, word := range words {
		if !slices.Contains(columns, word) {
			words[i] = spell.Name(word, columns)
		}
	}
	return func(name string) bool { return slices.Contains(words, name) }
}

// everyOther finds the term `.` of a formula.
var everyOther = regexp.MustCompile(`(^|[~+(\s])\.($|[-+)\s])`)

// isWord reports whether a name may have this character.
func isWord(r rune) bool { return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// groups returns the columns by which a formula groups records.
func (k Known) groups(name string) bool {
	return slices.ContainsFunc(groupTerm.FindAllStringSubmatch(k.Formula, -1), func(m []string) bool { return m[1] == name })
}

// groupTerm finds the end of a term (1 + x | group).
var groupTerm = regexp.MustCompile(`\|\s*([\pL\pN_.]+)\s*\)`)

// leftOut is the comment on columns that are not declared; "" for none.
func leftOut(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	return fmt.Sprintf("    # Not in the formula, and so not here: %s\n", strings.Join(strings.Fields(strings.Join(headers, ", ")), " "))
}
