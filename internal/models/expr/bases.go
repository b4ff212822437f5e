package expr

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// bases lists the functions that expand a number into a vector along a dim,
// for `basis @ coefficients`. Their constants are declared, never learnt.
func bases() []function {
	return []function{
		{name: "poly", params: []string{"x", "over"}, apply: poly},
		{name: "spline", params: []string{"x", "knots", "over"}, apply: spline},
	}
}

// basisDim reads the dim of a basis.
func (l *lowering) basisDim(e Expr) (graph.Dim, bool) {
	n, ok := e.(*Name)
	if !ok {
		l.fail(e.Pos(), "write the name of a dim", "%s is not a dim", e)
		return graph.Dim{}, false
	}
	d, ok := l.env.Dims[n.ID]
	if !ok {
		l.fail(n.At, spell.Question(n.ID, l.env.dimNames(), "declare it under dims:"), "unknown dim %s", n.ID)
	}
	return graph.Dim{Name: n.ID, Size: d.Size}, ok
}

// poly is x, x², ..., one power per element of the dim.
func poly(l *lowering, c *Call, args []Expr) *graph.Node {
	d, ok := l.basisDim(args[1])
	x := l.node(args[0])
	if !ok || x == nil {
		return nil
	}
	powers := make([]*graph.Node, d.Size)
	power := x
	for i := range powers {
		powers[i] = power
		power = l.b.Mul(power, x)
	}
	return l.checked(c.At, l.b.Stack(d, powers...))
}

// spline is the natural cubic spline basis with knots t_1 < ... < t_n: x, and
// for j = 1..n-2
//
//	[(x-t_j)³₊ - (x-t_{n-1})³₊ (t_n-t_j)/(t_n-t_{n-1}) + (x-t_n)³₊ (t_{n-1}-t_j)/(t_n-t_{n-1})] / (t_n-t_1)²
//
// n-1 elements, linear beyond the outer knots. Harrell 2015, Regression
// Modeling Strategies, eq. 2.25.
func spline(l *lowering, c *Call, args []Expr) *graph.Node {
	d, ok := l.basisDim(args[2])
	knots, okKnots := l.knots(args[1])
	x := l.node(args[0])
	if !ok || !okKnots || x == nil {
		return nil
	}
	n := len(knots)
	if d.Size != n-1 {
		return l.fail(args[2].Pos(), "", "a natural spline with %d knots has %d elements, dim %s has %d", n, n-1, d.Name, d.Size)
	}
	b := l.b
	cube := func(t float64) *graph.Node {
		r := b.Relu(b.Sub(x, b.Const(t)))
		return b.Mul(b.Square(r), r)
	}
	last, second := knots[n-1], knots[n-2]
	norm := 1 / math.Pow(last-knots[0], 2)
	parts := []*graph.Node{x}
	for _, t := range knots[:n-2] {
		parts = append(parts, b.AddAll(
			b.Mul(b.Const(norm), cube(t)),
			b.Mul(b.Const(-norm*(last-t)/(last-second)), cube(second)),
			b.Mul(b.Const(norm*(second-t)/(last-second)), cube(last))))
	}
	return l.checked(c.At, b.Stack(d, parts...))
}

// knots reads a list of at least three increasing numbers.
func (l *lowering) knots(e Expr) ([]float64, bool) {
	list, ok := e.(*List)
	if !ok {
		l.fail(e.Pos(), "write knots=[30, 50, 70]", "%s is not a list of knots", e)
		return nil, false
	}
	var knots []float64
	for _, item := range list.Items {
		v, isNumber := l.constant(item, "a knot")
		knots = append(knots, v)
		ok = ok && isNumber
	}
	increasing := len(knots) >= 3
	for i := 1; i < len(knots); i++ {
		increasing = increasing && knots[i-1] < knots[i]
	}
	if ok && !increasing {
		l.fail(e.Pos(), "", "knots must be at least three increasing numbers")
		return nil, false
	}
	return knots, ok
}
