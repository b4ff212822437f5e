// Package affine finds the numbers of a graph that are affine in its parameters, and bounds their
// slopes.
package affine

import (
	"math"
	"slices"

	"d3p/internal/models/graph"
)

// Span is an interval of numbers.
type Span struct{ Low, High float64 }

func (s Span) plus(t Span) Span                { return Span{s.Low + t.Low, s.High + t.High} }
func (s Span) minus() Span                     { return Span{-s.High, -s.Low} }
func (s Span) farthest() float64               { return math.Max(math.Abs(s.Low), math.Abs(s.High)) }
func (s Span) hull(t Span) Span                { return Span{math.Min(s.Low, t.Low), math.Max(s.High, t.High)} }
func (s Span) holds(x float64) bool            { return s.Low <= x && x <= s.High }
func (s Span) single() bool                    { return s.Low == s.High }
func (s Span) of(f func(float64) float64) Span { return Span{f(s.Low), f(s.High)} }

// whole is the span of a number about which nothing is known.
var whole = Span{math.Inf(-1), math.Inf(1)}

func (s Span) times(t Span) Span {
	if s == (Span{}) || t == (Span{}) {
		return Span{} // also where the other is infinite
	}
	out := Span{math.Inf(1), math.Inf(-1)}
	for _, x := range []float64{s.Low * t.Low, s.Low * t.High, s.High * t.Low, s.High * t.High} {
		if math.IsNaN(x) {
			return whole
		}
		out = out.hull(Span{x, x})
	}
	return out
}

// form is one element: constant + Σ_j slopes[j] θ_j. Over all records each lies in its span.
type form struct {
	constant Span
	slopes   map[int]Span
}

func (f form) fixed() bool { return len(f.slopes) == 0 }

// combined is f and g with spans joined by two functions; a slope that one lacks is 0.
func (f form) combined(g form, join func(s, t Span) Span) form {
	out := form{join(f.constant, g.constant), make(map[int]Span)}
	for j, s := range f.slopes {
		out.slopes[j] = join(s, g.slopes[j])
	}
	for j, t := range g.slopes {
		if _, both := f.slopes[j]; !both {
			out.slopes[j] = join(Span{}, t)
		}
	}
	return out
}

// times is f by a span that does not depend on the parameters.
func (f form) times(s Span) form {
	out := form{f.constant.times(s), make(map[int]Span)}
	for j, t := range f.slopes {
		out.slopes[j] = t.times(s)
	}
	return out
}

// Slopes bounds |∂x/∂θ_j| of a scalar x by parameter, over all records whose column j is in
// column(j). It is false if x is not affine in the parameters, or if a slope has no bound.
func Slopes(x *graph.Node, parameters int, column func(j int) (Span, bool)) (slopes []float64, ok bool) {
	a := analysis{column: column, varies: func(int) bool { return true }, known: make(map[*graph.Node][]form)}
	all := a.forms(x)
	if len(all) != 1 {
		return nil, false
	}
	slopes = make([]float64, parameters)
	for j, s := range all[0].slopes {
		if slopes[j] = s.farthest(); math.IsNaN(slopes[j]) || math.IsInf(slopes[j], 0) {
			return nil, false
		}
	}
	return slopes, true
}

// Linked reports whether every element of x is a monotone function of a number that is affine in
// the parameters that vary, given the others, as the mean exp(a + b·x) of a regression is.
func Linked(x *graph.Node, varies func(parameter int) bool) bool {
	a := analysis{column: func(int) (Span, bool) { return whole, true }, varies: varies, known: make(map[*graph.Node][]form)}
	for a.forms(x) == nil {
		var inner *graph.Node
		for _, arg := range x.Args() {
			if f := a.forms(arg); f != nil && !slices.ContainsFunc(f, func(f form) bool { return !f.fixed() }) {
				continue
			}
			if inner != nil {
				return false
			}
			inner = arg
		}
		if inner == nil || !increasing[x.Op()] && !monotone[x.Op()] {
			return false
		}
		x = inner
	}
	return true
}

type analysis struct {
	column func(j int) (Span, bool)
	varies func(parameter int) bool // the others are constants without known spans
	known  map[*graph.Node][]form
}

// forms are the elements of n; nil if one is not affine.
func (a *analysis) forms(n *graph.Node) []form {
	if f, seen := a.known[n]; seen {
		return f
	}
	args := make([][]form, len(n.Args()))
	for i, x := range n.Args() {
		if args[i] = a.forms(x); args[i] == nil {
			a.known[n] = nil
			return nil
		}
	}
	f := a.leaf(n)
	switch {
	case f != nil:
	case n.Op().Arity() > 0:
		f = elementwise(n, args)
	default:
		f = moved(n, args)
	}
	a.known[n] = f
	return f
}

// leaf are the elements of constants, parameters and columns.
func (a *analysis) leaf(n *graph.Node) []form {
	list, d := make([]form, n.Size()), n.Detail()
	for i := range list {
		switch n.Op() {
		case graph.OpConst:
			list[i].constant = Span{d.Values[i], d.Values[i]}
		case graph.OpParam:
			if list[i].constant = whole; a.varies(d.Offset + i) {
				list[i] = form{slopes: map[int]Span{d.Offset + i: {1, 1}}}
			}
		case graph.OpColumn:
			span, ok := a.column(d.Offset + i)
			if !ok {
				span = whole
			}
			list[i].constant = span
		default:
			return nil
		}
	}
	return list
}

// increasing are operations of one number that do not decrease.
var increasing = map[graph.Op]bool{
	graph.OpExp: true, graph.OpExpm1: true, graph.OpSigmoid: true, graph.OpSoftplus: true, graph.OpTanh: true,
	graph.OpRelu: true, graph.OpErf: true, graph.OpNormalCDF: true, graph.OpAtan: true, graph.OpFloor: true, graph.OpSign: true,
}

// monotone are other operations that rise or fall in one argument, on each side of 0.
var monotone = map[graph.Op]bool{
	graph.OpAdd: true, graph.OpSub: true, graph.OpMul: true, graph.OpDiv: true, graph.OpNeg: true, graph.OpReciprocal: true,
	graph.OpLog: true, graph.OpLog1p: true, graph.OpLogSigmoid: true, graph.OpLogNormalCDF: true, graph.OpSqrt: true, graph.OpPow: true,
}

// elementwise are the elements of an operation on elements of the same place; an argument of one
// element is for all.
func elementwise(n *graph.Node, args [][]form) []form {
	list := make([]form, n.Size())
	for i := range list {
		at := make([]form, len(args))
		for k, x := range args {
			at[k] = x[min(i, len(x)-1)]
		}
		var ok bool
		if list[i], ok = applied(n.Op(), at); !ok {
			return nil
		}
	}
	return list
}

func applied(op graph.Op, x []form) (form, bool) {
	switch op {
	case graph.OpAdd:
		return x[0].combined(x[1], Span.plus), true
	case graph.OpSub:
		return x[0].combined(x[1], func(s, t Span) Span { return s.plus(t.minus()) }), true
	case graph.OpNeg:
		return x[0].times(Span{-1, -1}), true
	case graph.OpMul:
		if !x[0].fixed() {
			x[0], x[1] = x[1], x[0]
		}
		return x[1].times(x[0].constant), x[0].fixed()
	case graph.OpDiv:
		by := whole
		if d := x[1].constant; !d.holds(0) {
			by = Span{1 / d.High, 1 / d.Low}
		}
		return x[0].times(by), x[1].fixed()
	}
	for _, f := range x {
		if !f.fixed() {
			return form{}, false
		}
	}
	s := x[0].constant
	switch {
	case op == graph.OpSquare || op == graph.OpAbs:
		low := 0.0
		if !s.holds(0) {
			low = math.Min(math.Abs(s.Low), math.Abs(s.High))
		}
		s = Span{low, s.farthest()}.of(func(v float64) float64 { return op.Eval(v, 0, 0) })
	case op == graph.OpEqual && s.single() && x[1].constant.single():
		s = s.of(func(v float64) float64 { return op.Eval(v, x[1].constant.Low, 0) })
	case op == graph.OpEqual || op == graph.OpLess:
		s = Span{0, 1}
	case op == graph.OpMin || op == graph.OpMax:
		t := x[1].constant
		s = Span{op.Eval(s.Low, t.Low, 0), op.Eval(s.High, t.High, 0)}
	case (op == graph.OpLog || op == graph.OpSqrt) && s.Low > 0 || increasing[op]:
		s = s.of(func(v float64) float64 { return op.Eval(v, 0, 0) })
	default:
		s = whole
	}
	if math.IsNaN(s.Low) || math.IsNaN(s.High) {
		s = whole
	}
	return form{constant: s}, true
}

// moved are the elements of operations that move and add elements.
func moved(n *graph.Node, args [][]form) []form {
	d, list := n.Detail(), make([]form, n.Size())
	switch n.Op() {
	case graph.OpView:
		for i := range list {
			from := i
			if d.Index != nil {
				from = int(d.Index[i])
			}
			list[i] = args[0][from]
		}
	case graph.OpStack:
		list = list[:0]
		for _, x := range args {
			list = append(list, x...)
		}
	case graph.OpSum:
		for i, into := range d.Index {
			list[into] = list[into].combined(args[0][i], Span.plus)
		}
	case graph.OpMatVec:
		return product(d, args[0], args[1])
	case graph.OpGather:
		return gathered(d, args[0], args[1])
	default:
		return nil
	}
	return list
}

// product is a matrix by a vector; see graph.Instr.
func product(d graph.Detail, matrix, vector []form) []form {
	list := make([]form, d.Rows*d.Width)
	for r := range d.Rows {
		for c := range d.Cols {
			m := matrix[r*d.Cols+c]
			if d.Trans {
				m = matrix[c*d.Rows+r]
			}
			for w := range d.Width {
				x, ok := applied(graph.OpMul, []form{m, vector[c*d.Width+w]})
				if !ok {
					return nil
				}
				list[r*d.Width+w] = list[r*d.Width+w].combined(x, Span.plus)
			}
		}
	}
	return list
}

// gathered are the blocks at indexes; see graph.Instr.
func gathered(d graph.Detail, from, index []form) []form {
	list := make([]form, d.Cols*d.Width)
	for w := range d.Width {
		s := index[w].constant
		first, last := int(math.Max(s.Low, 0)), int(math.Min(s.High, float64(d.Rows-1)))
		for i := range d.Cols {
			for k := first; k <= last; k++ {
				x := from[k*d.Cols+i]
				if k > first {
					x = list[i*d.Width+w].combined(x, Span.hull)
				}
				list[i*d.Width+w] = x
			}
		}
	}
	return list
}
