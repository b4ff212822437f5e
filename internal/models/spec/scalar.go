package spec

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/formula"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// scalarTypes are the types, in the schema, of values that are read as text.
var scalarTypes = []string{"string", "number", "boolean"}

// text reads a scalar in its spelling: `1.0` stays "1.0" and `no` stays "no".
func (r *reader) text(e entry) (v source.Value[string]) {
	if r.describes(scalarTypes...) {
		return v
	}
	switch n := e.node.(type) {
	case *ast.StringNode:
		v.V, v.At = n.Value, r.at(n)
		if !plain(n) {
			v.At = source.Right(v.At, 1) // the content starts after the quote
		}
	case *ast.LiteralNode:
		v.V, v.At = strings.TrimSpace(n.Value.Value), r.at(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		v.V, v.At = n.GetToken().Value, r.at(n)
	case *ast.NullNode:
		r.Add(e.at, "", "%s has no value", e.key)
	default:
		r.Add(r.at(n), "", "%s must be text, not %s", e.key, describe(n))
	}
	return v
}

// number reads a finite real number.
func (r *reader) number(e entry) (v source.Value[float64]) {
	if r.describes("number") {
		return v
	}
	s := r.text(e)
	if !s.IsSet() {
		return v
	}
	x, err := strconv.ParseFloat(s.V, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		r.Add(s.At, "", "%s must be a number, not %s", e.key, s.V)
		return v
	}
	return source.Value[float64]{V: x, At: s.At}
}

// numberIn reads a number that satisfies ok; want describes such numbers.
func (r *reader) numberIn(e entry, want string, ok func(float64) bool) source.Value[float64] {
	v := r.number(e)
	if v.IsSet() && !ok(v.V) {
		r.Add(v.At, "", "%s must be %s, not %s", e.key, want, source.FormatNumber(v.V))
		return source.Value[float64]{}
	}
	return v
}

// positive is numberIn for numbers above zero.
func (r *reader) positive(e entry) source.Value[float64] {
	return r.numberIn(e, "positive", func(x float64) bool { return x > 0 })
}

// count reads a whole number of at least least.
func (r *reader) count(e entry, least int) (v source.Value[int]) {
	if r.describes("integer") {
		return v
	}
	s := r.text(e)
	if !s.IsSet() {
		return v
	}
	n, err := strconv.Atoi(s.V)
	switch {
	case err != nil:
		r.Add(s.At, "", "%s must be a whole number, not %s", e.key, s.V)
	case n < least:
		r.Add(s.At, "", "%s must be at least %d, not %d", e.key, least, n)
	default:
		v = source.Value[int]{V: n, At: s.At}
	}
	return v
}

// boolean reads true or false.
func (r *reader) boolean(e entry) source.Value[bool] {
	if r.describes("boolean") {
		return source.Value[bool]{}
	}
	if n, ok := e.node.(*ast.BoolNode); ok {
		return source.Value[bool]{V: n.Value, At: r.at(n)}
	}
	r.Add(r.at(e.node), "", "%s must be true or false", e.key)
	return source.Value[bool]{}
}

// meantWords are hints for words that users write instead of the options of a key; "" for other words.
var meantWords = map[string]func(word string, options []string) string{
	"type":    func(word string, _ []string) string { return data.TypeHint(word) },
	"missing": func(string, []string) string { return tokensHint },
	"family":  familyHint,
}

// familyHint is what to write for a word of another package, and for a call with the link, as in R.
func familyHint(word string, options []string) string {
	word, link, called := strings.Cut(word, "(")
	family := strings.TrimSpace(word)
	if !called || !slices.Contains(options, family) {
		family = formula.FamilyMeant(family)
	}
	if !slices.Contains(options, family) {
		return ""
	}
	link = strings.TrimPrefix(strings.ReplaceAll(link, " ", ""), "link=")
	if link = strings.Trim(link, `"')`); link != "" {
		return "write `family: " + family + "` and `link: " + link + "`"
	}
	return "write `family: " + family + "`"
}

// choice reads one of a few words.
func (r *reader) choice(e entry, options ...string) source.Value[string] {
	if r.describesChoice(options) {
		return source.Value[string]{}
	}
	v := r.text(e)
	if v.IsSet() && !slices.Contains(options, v.V) {
		hint := spell.Question(v.V, options, "one of: "+strings.Join(options, ", "))
		if meant, known := meantWords[e.key]; known {
			hint = cmp.Or(meant(v.V, options), hint)
		}
		r.Add(v.At, hint, "unknown %s %s", e.key, v.V)
		return source.Value[string]{}
	}
	return v
}

// texts reads a list of scalars.
func (r *reader) texts(e entry) []source.Value[string] {
	if r.describesList(scalarTypes...) {
		return nil
	}
	return listOf(r, e, "write [a, b, c]", r.text)
}

// numbers reads a list of finite real numbers.
func (r *reader) numbers(e entry) []source.Value[float64] {
	if r.describesList("number") {
		return nil
	}
	return listOf(r, e, "write [1, 2, 3]", r.number)
}

// listOf reads a list, element by element; those with a mistake are left out.
func listOf[T any](r *reader, e entry, hint string, read func(entry) source.Value[T]) (list []source.Value[T]) {
	s, ok := e.node.(*ast.SequenceNode)
	if !ok {
		r.Add(r.at(e.node), hint, "%s must be a list, not %s", e.key, describe(e.node))
		return nil
	}
	for _, n := range s.Values {
		if v := read(entry{"an element of " + e.key, r.at(n), n}); v.IsSet() {
			list = append(list, v)
		}
	}
	return list
}

// unique reports the elements of a list that repeat an earlier one.
func (r *reader) unique(what string, list []source.Value[string]) {
	seen := make(map[string]bool)
	for _, v := range list {
		if seen[v.V] {
			r.Add(v.At, "", "%s %s appears twice", what, v.V)
		}
		seen[v.V] = true
	}
}
