package cpu

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/models/special"
	"d3p/internal/simd"
)

// apply runs a step that has no opcode: a rare operation, or a rare mix of scalars
// and lanes.
func (f *frame) apply(s *step) {
	dst := f.elements(s.to, s.count)
	a, b, c := f.operand(s.a, s.count), f.operand(s.b, s.count), f.operand(s.c, s.count)
	if function := vectorFunction(s.op); function != nil && a.v != nil {
		function(dst, a.v)
		return
	}
	if tail := gammaTail(s.op); tail != nil {
		f.incompleteGamma(dst, a, b, tail)
		return
	}
	for i := range dst {
		dst[i] = s.op.Eval(a.at(i), b.at(i), c.at(i))
	}
}

// incomplete is the incomplete gamma function of a lane.
type incomplete struct {
	shape, x float64
	tails    special.Tails
}

// incompleteGamma sets dst to a part of the incomplete gamma functions of the shapes a at x.
// The frame keeps all parts: a gradient needs the value and its derivative in the shape.
func (f *frame) incompleteGamma(dst []float64, a, x operand, tail func(*special.Tails) float64) {
	for len(f.incomplete) < len(dst) {
		f.incomplete = append(f.incomplete, incomplete{shape: math.NaN()})
	}
	shape, of := special.GammaShape{}, math.NaN()
	for i := range dst {
		kept := &f.incomplete[i]
		if v, at := a.at(i), x.at(i); kept.shape != v || kept.x != at {
			if v != of {
				shape, of = special.NewGammaShape(v), v
			}
			*kept = incomplete{v, at, shape.Incomplete(at)}
		}
		dst[i] = tail(&kept.tails)
	}
}

// gammaTail is the part of the incomplete gamma functions that an operation computes; nil for
// other operations.
func gammaTail(op graph.Op) func(*special.Tails) float64 {
	switch op {
	case graph.OpLogGammaP:
		return func(t *special.Tails) float64 { return t.Below.V }
	case graph.OpLogGammaPShape:
		return func(t *special.Tails) float64 { return t.Below.A }
	case graph.OpLogGammaQ:
		return func(t *special.Tails) float64 { return t.Above.V }
	case graph.OpLogGammaQShape:
		return func(t *special.Tails) float64 { return t.Above.A }
	}
	return nil
}

// vectorFunction is the vector form of an operation without opcode; nil if it has none.
func vectorFunction(op graph.Op) func(dst, x []float64) {
	switch op {
	case graph.OpLgamma:
		return simd.Lgamma
	case graph.OpDigamma:
		return simd.Digamma
	}
	return nil
}

// elements are count elements of o beginning at start.
func (f *frame) elements(o source, count int) []float64 {
	return f.in[o.space][o.at*f.pitch : (o.at+count)*f.pitch]
}

// operand is an input of one loop: one value per lane, or a scalar.
type operand struct {
	v []float64
	s float64
}

func (f *frame) operand(o source, count int) operand {
	switch {
	case o.absent:
		return operand{}
	case o.scalar:
		return operand{s: f.in[o.space][o.at]}
	}
	return operand{v: f.elements(o, count)}
}

// at is the operand's value in lane i; an absent operand is 0.
func (o *operand) at(i int) float64 {
	if o.v == nil {
		return o.s
	}
	return o.v[i]
}
