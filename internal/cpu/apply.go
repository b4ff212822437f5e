package cpu

import (
	"d3p/internal/models/graph"
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
	for i := range dst {
		dst[i] = s.op.Eval(a.at(i), b.at(i), c.at(i))
	}
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
