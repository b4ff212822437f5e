package expr

import (
	"maps"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// columnFunctions lists the functions of the data declaration: columns(dim) is
// the vector of the predictors that label the dim, column('label') one of
// them, raw(x) a column in the unit of the file, scale(x) one on its declared
// scale, and offset(x) is x itself.
func columnFunctions() []function {
	return []function{
		{name: "columns", params: []string{"dim"}, apply: designColumns},
		{name: "column", params: []string{"label"}, apply: designColumn},
		{name: "raw", params: []string{"x"}, apply: rawColumn},
		{name: "scale", params: []string{"x"}, apply: scaledColumn},
		unary("offset", func(_ *graph.Builder, x *graph.Node) *graph.Node { return x }),
	}
}

func designColumns(l *lowering, c *Call, args []Expr) *graph.Node {
	n, ok := args[0].(*Name)
	if !ok {
		return l.fail(args[0].Pos(), "write the name of a dim", "%s is not a dim", args[0])
	}
	if x, ok := l.env.Design[n.ID]; ok {
		return x
	}
	if _, ok := l.env.Dims[n.ID]; ok {
		return l.fail(n.At, "label the dim with columns, and use it inside rows:", "the labels of dim %s are not predictors", n.ID)
	}
	return l.fail(n.At, spell.Question(n.ID, slices.Sorted(maps.Keys(l.env.Design)), ""), "unknown dim %s", n.ID)
}

func designColumn(l *lowering, c *Call, args []Expr) *graph.Node {
	label, ok := args[0].(*Text)
	if !ok {
		return l.fail(args[0].Pos(), "write column('label')", "%s is not a quoted label", args[0])
	}
	if x, ok := l.env.Coefficients[label.Value]; ok {
		return x
	}
	return l.fail(label.At, spell.Question(label.Value, slices.Sorted(maps.Keys(l.env.Coefficients)), ""), "unknown predictor %s", label)
}

// numericColumn is the value of a numeric column named by an argument.
func (l *lowering) numericColumn(c *Call, arg Expr) (Value, bool) {
	n, ok := arg.(*Name)
	if !ok {
		l.fail(arg.Pos(), "", "%s takes the name of a column, not %s", c.Func, arg)
		return Value{}, false
	}
	if l.name(n) == nil {
		return Value{}, false
	}
	v := l.env.Values[n.ID]
	if v.Labels != nil || !slices.Contains(l.env.Columns, n.ID) {
		l.fail(n.At, "", "%s is not a numeric column", n.ID)
		return Value{}, false
	}
	return v, true
}

func rawColumn(l *lowering, c *Call, args []Expr) *graph.Node {
	v, ok := l.numericColumn(c, args[0])
	if !ok {
		return nil
	}
	if v.Raw == nil {
		return v.Node // it has no other unit
	}
	return v.Raw
}

func scaledColumn(l *lowering, c *Call, args []Expr) *graph.Node {
	v, ok := l.numericColumn(c, args[0])
	if !ok {
		return nil
	}
	if v.Raw == v.Node {
		return l.fail(c.At, "declare scale: {center: ..., by: ...} for the column", "scale(%s) would need the mean and sd of all records", args[0])
	}
	return v.Node
}
