package expr

import (
	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// shapes lists the functions that make or rearrange vectors and matrices.
func shapes() []function {
	return []function{
		unary("transpose", (*graph.Builder).Transpose),
		// diag of a vector is the diagonal matrix, of a matrix its diagonal.
		unary("diag", func(b *graph.Builder, x *graph.Node) *graph.Node {
			if s := x.Shape(); len(s) == 1 {
				return b.Diag(x, primed(s[0].Name, s))
			}
			return b.DiagPart(x)
		}),
		{name: "unscaled", params: []string{"x", "over"}, apply: unscaled},
		{name: "one_hot", params: []string{"x", "over"}, apply: oneHot},
		{name: "cholesky", params: []string{"x"}, apply: func(l *lowering, c *Call, _ []Expr) *graph.Node {
			return l.fail(c.At, "declare the factor itself: L: lkj_cholesky(2) [k, k]", "cholesky of a matrix is not available")
		}},
	}
}

// oneHot is 1 at the level of a category and 0 elsewhere, along a dim.
func oneHot(l *lowering, c *Call, args []Expr) *graph.Node {
	n, ok := args[1].(*Name)
	if !ok {
		return l.fail(args[1].Pos(), "write the name of a dim", "%s is not a dim", args[1])
	}
	d, ok := l.env.Dims[n.ID]
	if !ok {
		return l.fail(n.At, spell.Question(n.ID, l.env.dimNames(), "declare it under dims:"), "unknown dim %s", n.ID)
	}
	x := l.node(args[0])
	if x == nil {
		return nil
	}
	if x.Stage()&graph.StageGlobal != 0 {
		return l.fail(args[0].Pos(), "discrete quantities are summed out: see mixture()", "%s depends on parameters and is no level", args[0])
	}
	return l.checked(c.At, l.b.OneHot(x, graph.Dim{Name: n.ID, Size: d.Size}))
}

// unscaled is coefficients along a dim of predictors in the unit of the file.
func unscaled(l *lowering, c *Call, args []Expr) *graph.Node {
	x, dims, ok := l.reduced(c, args[0], args[1])
	if !ok {
		return nil
	}
	combination := l.env.Unscalings[dims[0]]
	if combination == nil {
		return l.fail(args[1].Pos(), "its labels must be columns, levels and products of them, with their margins",
			"nothing along %s changes unit", dims[0])
	}
	return l.checked(c.At, l.b.Combine(x, dims[0], combination))
}
