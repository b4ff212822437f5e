package spec

import (
	"maps"
	"slices"
	"strings"
)

// splitHint explains the commonest trap of YAML for distributions.
const splitHint = "write `name: dist(a, b)` on a line of its own, or put the distribution in quotes"

// balance counts the opening minus the closing parentheses of s.
func balance(s string) int { return strings.Count(s, "(") - strings.Count(s, ")") }

// distributionInFlowMap reports whether a line holds `{ ... name(` , which a
// comma or a bracket inside the parentheses turns into a YAML syntax error.
func distributionInFlowMap(line string) bool {
	brace := strings.IndexAny(line, "{[")
	return brace >= 0 && strings.Contains(line[brace:], "(")
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
