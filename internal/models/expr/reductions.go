package expr

import (
	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// reductions lists the functions that work along a dim: over=, or all dims if
// it is absent (for softmax, log_softmax and cumsum: the only dim).
func reductions() []function {
	return []function{
		reduce("sum", (*graph.Builder).Sum),
		reduce("mean", (*graph.Builder).Mean),
		reduce("logsumexp", (*graph.Builder).LogSumExp),
		along("softmax", (*graph.Builder).Softmax),
		along("log_softmax", (*graph.Builder).LogSoftmax),
		along("cumsum", (*graph.Builder).CumSum),
		extreme("max", (*graph.Builder).Max, (*graph.Builder).MaxOver),
		extreme("min", (*graph.Builder).Min, func(b *graph.Builder, x *graph.Node, dims ...string) *graph.Node {
			return b.Neg(b.MaxOver(b.Neg(x), dims...))
		}),
		{name: "dot", params: []string{"x", "y", "over"}, optional: 1, apply: dot},
	}
}

type reducer = func(b *graph.Builder, x *graph.Node, dims ...string) *graph.Node

// reduce makes a function that sums up over a dim, or over all.
func reduce(name string, apply reducer) function {
	return function{name: name, params: []string{"x", "over"}, optional: 1,
		apply: func(l *lowering, c *Call, args []Expr) *graph.Node {
			x, dims, ok := l.reduced(c, args[0], args[1])
			if !ok {
				return nil
			}
			return l.checked(c.At, apply(l.b, x, dims...))
		}}
}

// along makes a function that keeps the dim that it works along.
func along(name string, apply func(b *graph.Builder, x *graph.Node, dim string) *graph.Node) function {
	return function{name: name, params: []string{"x", "over"}, optional: 1,
		apply: func(l *lowering, c *Call, args []Expr) *graph.Node {
			x, dims, ok := l.reduced(c, args[0], args[1])
			if !ok {
				return nil
			}
			if len(dims) != 1 {
				return l.fail(c.At, "name one with over=", "%s needs one dim, not %v", c.Func, x.Shape())
			}
			return l.checked(c.At, apply(l.b, x, dims[0]))
		}}
}

// extreme makes max and min: of two values element by element, or of one over
// a dim.
func extreme(name string, two func(b *graph.Builder, x, y *graph.Node) *graph.Node, over reducer) function {
	return function{name: name, params: []string{"x", "y", "over"}, optional: 2,
		apply: func(l *lowering, c *Call, args []Expr) *graph.Node {
			if args[1] == nil {
				return reduce(name, over).apply(l, c, []Expr{args[0], args[2]})
			}
			x, ok := l.nodes(args[:2])
			if !ok {
				return nil
			}
			return l.checked(c.At, two(l.b, x[0], x[1]))
		}}
}

// dot is the sum of x*y over their common dim.
func dot(l *lowering, c *Call, args []Expr) *graph.Node {
	x, ok := l.nodes(args[:2])
	if !ok {
		return nil
	}
	xs, ys := x[0].Shape(), x[1].Shape()
	if args[2] == nil && len(xs) == 1 && len(ys) == 1 {
		return l.product(c.At, x[0], x[1])
	}
	var common []string
	for _, d := range xs {
		if ys.Index(d.Name) >= 0 {
			common = append(common, d.Name)
		}
	}
	if args[2] != nil {
		name, ok := l.dim(args[2], l.b.Mul(x[0], x[1]).Shape())
		if !ok {
			return nil
		}
		common = []string{name}
	}
	if len(common) != 1 {
		return l.fail(c.At, "name it with over=", "dot needs one common dim, %v and %v have %d", xs, ys, len(common))
	}
	return l.checked(c.At, l.b.Sum(l.b.Mul(x[0], x[1]), common...))
}

// reduced lowers the argument of a reduction and names the dims to reduce: all of them if
// over is absent.
func (l *lowering) reduced(c *Call, what, over Expr) (x *graph.Node, dims []string, ok bool) {
	if n, isName := over.(*Name); isName && n.ID == "rows" {
		l.overRecords(c, what)
		return nil, nil, false
	}
	x = l.node(what)
	if x == nil {
		return nil, nil, false
	}
	if over != nil {
		name, ok := l.dim(over, x.Shape())
		return x, []string{name}, ok
	}
	for _, d := range x.Shape() {
		dims = append(dims, d.Name)
	}
	if len(dims) > 0 {
		return x, dims, true
	}
	if x.Stage()&graph.StageData != 0 {
		l.overRecords(c, what)
	} else {
		l.fail(c.At, "", "%s(%s): %s is a single number", c.Func, what, what)
	}
	return nil, nil, false
}

// dim reads the name of a dim, which must be one of the shape's.
func (l *lowering) dim(e Expr, shape graph.Shape) (string, bool) {
	n, ok := e.(*Name)
	if !ok {
		l.fail(e.Pos(), "write the name of a dim", "%s is not a dim", e)
		return "", false
	}
	if shape.Index(n.ID) >= 0 {
		return n.ID, true
	}
	var names []string
	for _, d := range shape {
		names = append(names, d.Name)
	}
	if _, declared := l.env.Dims[n.ID]; declared {
		l.fail(n.At, "", "no dim %s in %v", n.ID, shape)
	} else {
		l.fail(n.At, spell.Question(n.ID, append(names, l.env.dimNames()...), ""), "unknown dim %s", n.ID)
	}
	return "", false
}
