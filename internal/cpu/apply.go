package cpu

import (
	"d3p/internal/cpu/kernel"
	"d3p/internal/models/graph"
)

// run executes steps over the frame's lanes.
func (f *frame) run(list []step) {
	for i := range list {
		s := &list[i]
		dst := f.elements(s.to, s.count)
		switch {
		case s.one != nil:
			s.one(dst, f.elements(s.a, s.count))
		case s.two != nil:
			s.two(dst, f.elements(s.a, s.count), f.elements(s.b, s.count))
		case s.with == nil:
			f.evaluate(s, dst)
		case s.a.scalar:
			s.with(dst, f.elements(s.b, s.count), f.in[s.a.space][s.a.at])
		default:
			s.with(dst, f.elements(s.a, s.count), f.in[s.b.space][s.b.at])
		}
	}
}

// elements are count elements from where o starts.
func (f *frame) elements(o source, count int) []float64 {
	if o.space == inLanes {
		return f.arena[o.at*f.n : (o.at+count)*f.n]
	}
	return f.in[o.space][o.at : o.at+count]
}

// evaluate runs operations that are rare or slow by nature, and rare mixes of
// scalars and lanes, mostly by the scalar definition of the tape.
func (f *frame) evaluate(s *step, dst []float64) {
	a, b, c := f.operand(s.a, s.count), f.operand(s.b, s.count), f.operand(s.c, s.count)
	switch {
	case s.op == graph.OpCopy:
		kernel.Fill(dst, a.s)
	case s.op == graph.OpWhere && a.v != nil && b.v != nil && c.v != nil:
		kernel.Where(dst, a.v, b.v, c.v)
	default:
		for i := range dst {
			dst[i] = s.op.Eval(a.at(i), b.at(i), c.at(i))
		}
	}
}

// An operand is what one loop reads: one value per lane, or a scalar.
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
