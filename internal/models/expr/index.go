package expr

import (
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// index lowers u[hospital, 'Intercept']: the i-th index selects along the i-th
// dim of u. A label or number picks that label; a category column picks its
// level in this record; the dim's own name keeps the dim.
func (l *lowering) index(e *Index) *graph.Node {
	if c, ok := e.X.(*Call); ok && isDensity(c.Func) {
		return l.distributionInExpression(c)
	}
	x := l.node(e.X)
	if x == nil {
		for _, i := range e.Indices {
			l.indexNames(i)
		}
		return nil
	}
	dims := slices.Clone(x.Shape())
	for i, index := range e.Indices {
		if i >= len(dims) {
			return l.fail(index.Pos(), "", "%s has %d dims, %v, but %d indices", e.X, len(dims), dims, len(e.Indices))
		}
		next := l.selectAt(x, dims[i], index)
		if next != nil {
			x = next
		}
	}
	return x
}

// indexNames reports unknown names among the indices of something that is
// itself unknown.
func (l *lowering) indexNames(i Expr) {
	n, ok := i.(*Name)
	if !ok {
		return
	}
	if _, isDim := l.env.Dims[n.ID]; !isDim {
		l.name(n)
	}
}

// selectAt is x at an index of dim d.
func (l *lowering) selectAt(x *graph.Node, d graph.Dim, index Expr) *graph.Node {
	switch i := index.(type) {
	case *Text:
		return l.slice(x, d, i.At, i.Value)
	case *Number:
		return l.slice(x, d, i.At, i.String())
	case *Name:
		v, ok := l.env.Values[i.ID]
		if !ok && i.ID == Unprimed(d.Name) {
			return x
		}
		if !ok {
			known := append(l.env.names(), d.Name)
			if slices.Contains(l.env.Columns, i.ID) {
				return l.name(i)
			}
			return l.fail(i.At, spell.Question(i.ID, known, "use a label, a category column, or "+d.Name+" itself"), "unknown index %s of dim %s", i.ID, d.Name)
		}
		return l.gather(x, d, i, v)
	}
	return l.fail(index.Pos(), "give it a name under rows: let: as a category, or use where(...)", "an index is a label or a category column, not %s", index)
}

func (l *lowering) slice(x *graph.Node, d graph.Dim, at Position, label string) *graph.Node {
	k, ok := l.env.label(d.Name, label)
	if !ok {
		labels := l.env.Dims[Unprimed(d.Name)].Labels
		return l.fail(at, spell.Question(label, labels, "see dims:"), "dim %s has no label '%s'", d.Name, label)
	}
	return l.checked(at, l.b.Slice(x, d.Name, k))
}

func (l *lowering) gather(x *graph.Node, d graph.Dim, i *Name, v Value) *graph.Node {
	switch {
	case v.Node.Stage() != graph.StageData:
		return l.fail(i.At, "discrete quantities are summed out: see mixture()", "%s depends on parameters and cannot be an index", i.ID)
	case v.Labels == nil:
		return l.fail(i.At, "declare it as a category with the levels of dim "+d.Name, "%s is no category and cannot be an index", i.ID)
	case !slices.Equal(v.Labels, l.env.Dims[Unprimed(d.Name)].Labels):
		return l.fail(i.At, "declare the dim as levels("+i.ID+")", "the levels of %s are not the labels of dim %s", i.ID, d.Name)
	}
	return l.checked(i.At, l.b.Gather(x, d.Name, v.Node))
}
