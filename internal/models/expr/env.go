package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

// Env has the meaning of names at an expression's place. Inside `rows:` Values hold the
// columns, too.
type Env struct {
	Values map[string]Value
	Dims   map[string]Dim
	// Unscalings are the changes to the unit of the file for coefficients along dims whose
	// labels are predictors.
	Unscalings map[string]*graph.Combination
	// Nets are the networks that can be called.
	Nets map[string]Net
	// Design has the vectors of predictors of columns(dim).
	Design map[string]*graph.Node
	// Coefficients are the single predictors of column('label').
	Coefficients map[string]*graph.Node
	// Columns are the declared columns, also where Values lack them: outside
	// `rows:` they explain why a name is unknown.
	Columns []string
	// Ranges are the ranges of the numeric columns, inside `rows:`.
	Ranges map[string]Range
}

// Value is the meaning of a name.
type Value struct {
	Node *graph.Node
	// Labels are the levels of a category, whose Node is the level's code.
	Labels []string
	// Raw is a column in the unit of the file, Node being on the declared
	// scale; nil for other values.
	Raw *graph.Node
	// Support is the support of a parameter's values; nil for other values.
	Support *support.Support
}

// Dim is a declared dim. Labels has Size entries.
type Dim struct {
	Size   int
	Labels []string
}

// NumberedLabels are the labels 1 to n of a dim declared by its size.
func NumberedLabels(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	return labels
}

// Shape is the shape of a parameter with these dims. A dim that repeats, as in
// a matrix [re, re], gets a prime at its second place: re and re'.
func (env *Env) Shape(dims []*Name) (graph.Shape, Errors) {
	var shape graph.Shape
	var errs Errors
	for _, n := range dims {
		d, ok := env.Dims[n.ID]
		if !ok {
			errs.Add(n.At, spell.Question(n.ID, env.dimNames(), "declare it under dims:"), "unknown dim %s", n.ID)
			continue
		}
		shape = append(shape, graph.Dim{Name: primed(n.ID, shape), Size: d.Size})
	}
	return shape, errs
}

// primed is name with enough primes to be new in the shape.
func primed(name string, shape graph.Shape) string {
	for shape.Index(name) >= 0 {
		name += "'"
	}
	return name
}

// Unprimed is the declared name of a dim: a dim that repeats has primes.
func Unprimed(name string) string { return strings.TrimRight(name, "'") }

// label finds the index of a label of a dim.
func (env *Env) label(dim, label string) (int, bool) {
	i := slices.Index(env.Dims[Unprimed(dim)].Labels, label)
	return i, i >= 0
}

func (env *Env) names() []string    { return slices.Sorted(maps.Keys(env.Values)) }
func (env *Env) dimNames() []string { return slices.Sorted(maps.Keys(env.Dims)) }
