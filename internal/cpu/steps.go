package cpu

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// step is one loop: an element-wise operation on contiguous elements, over all lanes of
// each. Opening a tape cuts its instructions into steps, so that running it decides nothing
// about operands.
type step struct {
	to    source
	count int // elements
	a, b  source
	c     source
	op    graph.Op
}

// source is the start of an operand of a step: contiguous elements, or one scalar for all
// elements.
type source struct {
	space  space
	at     int
	scalar bool
	absent bool
}

// space is an array of elements.
type space uint8

const (
	inLanes  space = iota // the chunk's arena, n values per element
	inGlobal              // computed once per step
	inTheta
	inAux
	inConst
	inNumbers  // sums over lanes
	inWeighted // weighted factors of terms
)

// place is o in the form that a program reads.
func (o source) place() simd.Place { return simd.Place{Space: uint8(o.space), At: int32(o.at)} }

// lanes is an element of the arena.
func lanes(at int) simd.Place { return simd.Place{Space: uint8(inLanes), At: int32(at)} }

// source locates element e of o. In the record stage a value that all records share is a
// scalar.
func (p *program) source(o graph.Operand, e int, record bool) source {
	b := &p.tape.Buffers[o.Buf]
	e = o.Index(e, b.Size)
	switch {
	case p.lane[o.Buf]:
		return source{space: inLanes, at: p.place[o.Buf] + e}
	case b.Kind == graph.KConst:
		return source{space: inConst, at: p.place[o.Buf] + e, scalar: record}
	case b.Kind == graph.KParam:
		return source{space: inTheta, at: b.Offset + e, scalar: record}
	case b.Kind == graph.KAux:
		return source{space: inAux, at: b.Offset + e, scalar: record}
	}
	return source{space: inGlobal, at: p.place[o.Buf] + e, scalar: record}
}

// steps cuts an instruction into steps; nil if it cannot be cut.
func (p *program) steps(in *graph.Instr, record bool) []step {
	var list []step
	switch in.Op {
	case graph.OpMatVec, graph.OpOuter, graph.OpGather, graph.OpScatter:
		return nil
	case graph.OpPut:
		for e, to := range in.Into {
			list = p.append(list, graph.OpCopy, int(to), in, record, p.source(in.A, e, record))
		}
		return list
	case graph.OpSum, graph.OpMaxReduce:
		return p.reduction(in, record)
	}
	for e := range p.tape.Buffers[in.Dst].Size {
		var x []source
		for _, o := range []graph.Operand{in.A, in.B, in.C}[:in.Op.Arity()] {
			x = append(x, p.source(o, e, record))
		}
		list = p.append(list, in.Op, e, in, record, x...)
	}
	return list
}

// reduction cuts a sum or maximum. An element of Dst without inputs gets the value of an
// empty sum or maximum.
func (p *program) reduction(in *graph.Instr, record bool) []step {
	op, empty := graph.OpAdd, 0.0
	if in.Op == graph.OpMaxReduce {
		op, empty = graph.OpMax, math.Inf(-1)
	}
	var list []step
	size := p.tape.Buffers[in.Dst].Size
	first, more := make([]source, size), make([]bool, size) // of each element of Dst
	for e := range first {
		first[e].absent = true
	}
	for e, to := range in.Into {
		x := p.source(in.A, e, record)
		switch {
		case first[to].absent:
			first[to] = x
			continue
		case !more[to]:
			more[to] = true
			list = p.append(list, op, int(to), in, record, first[to], x)
		default:
			list = p.append(list, op, int(to), in, record, p.source(graph.Operand{Buf: in.Dst}, int(to), record), x)
		}
	}
	for e, x := range first {
		if x.absent {
			x = p.constant(empty)
		}
		if !more[e] {
			list = p.append(list, graph.OpCopy, e, in, record, x)
		}
	}
	return list
}

// constant is a source of one number.
func (p *program) constant(x float64) source {
	p.constants = append(p.constants, x)
	return source{space: inConst, at: len(p.constants) - 1, scalar: true}
}

// append adds one element, to the last step if that step can take it.
func (p *program) append(list []step, op graph.Op, e int, in *graph.Instr, record bool, x ...source) []step {
	s := step{op: op, count: 1, to: p.source(graph.Operand{Buf: in.Dst, Map: []int32{int32(e)}}, 0, record)}
	s.to.scalar = false
	operands := []*source{&s.a, &s.b, &s.c}
	for k, o := range operands {
		if *o = (source{absent: true}); k < len(x) {
			*o = x[k]
		}
	}
	if len(list) > 0 {
		if longer, ok := list[len(list)-1].extended(&s); ok {
			list[len(list)-1] = longer
			return list
		}
	}
	return append(list, s)
}

// extended is the step with the element of next added.
func (s step) extended(next *step) (step, bool) {
	vectors := 0
	for _, pair := range [][2]*source{{&s.a, &next.a}, {&s.b, &next.b}, {&s.c, &next.c}} {
		x, y := pair[0], pair[1]
		switch {
		case x.absent && y.absent:
			continue
		case x.absent != y.absent || x.space != y.space:
			return s, false
		case !x.scalar && !y.scalar && y.at == x.at+s.count:
			vectors++
		case y.at == x.at && (x.scalar || s.count == 1 && x.space != inLanes):
			x.scalar = true
		default:
			return s, false
		}
	}
	ok := s.op == next.op && vectors > 0 && next.to.space == s.to.space && next.to.at == s.to.at+s.count
	s.count++
	return s, ok
}
