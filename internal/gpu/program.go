package gpu

import (
	"fmt"
	"slices"

	"d3p/internal/models/graph"
)

//go:generate go test -run TestOpcodes . -update

// opRowMatVec is a MatVec whose second operand is read from the table in place; every
// other operation has the number that package graph gives it. kernel/opcodes.h lists them
// for the kernels.
const opRowMatVec = int32(graph.NumOps)

// opProductSum is a·b + c and opProductLess is c - a·b, rounded twice: links of chains only.
const (
	opProductSum = graph.NumOps + 1 + iota
	opProductLess
)

// arity is how many operands an element-wise operation has, or 0.
func arity(op graph.Op) int {
	if op >= opProductSum {
		return 3
	}
	return op.Arity()
}

// A program is a tape in the form that the kernels read. It is not changed
// after compile.
type program struct {
	tape *graph.Tape

	constants      []float64
	indices        []int32
	global, record []instr
	columns        []column
	dots           []dot
	terms          []term
	pairs          []pair

	products map[[2]graph.Buf][2]int32 // the dots of an inner product: from, to
	longDots int
	globals  int     // scalars computed once per step
	early    int     // of the global instructions: see postprocessing.go
	lanes    lanes   // of a chunk: those of the tape, of the dots, then two of the factors
	place    []int32 // per buffer: in the constants, globals or lanes
	inLanes  []bool  // per buffer: has lanes

	wideFrom int64 // products per record from which all blocks work together
}

// dotPiece is how many products one thread adds up, or, from leastLong on, eight:
// longer inner products are cut into pieces, which are added in order.
const (
	dotPiece  = 64
	leastLong = 16
)

// inPlace is the most products with one record's columns that are taken from
// the table in place; more than that are taken over lanes.
const inPlace = 4

// compile prepares a tape whose loss is per record; wideFrom is wideProducts but
// in tests.
func compile(t *graph.Tape, wideFrom int64) (*program, error) {
	p := &program{
		tape: t, wideFrom: wideFrom, place: make([]int32, len(t.Buffers)), inLanes: make([]bool, len(t.Buffers)), products: map[[2]graph.Buf][2]int32{},
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	t = withProductSums(withRecordArranged(t))
	p.tape = t
	p.placeFixed()
	p.placeColumns()
	p.placeResults()
	for i := range t.Global {
		p.global = append(p.global, p.instruction(&t.Global[i]))
	}
	for i := range needed(t) {
		p.record = append(p.record, p.instruction(&t.Record[i]))
	}
	nothing := make([]bool, len(t.Buffers))
	p.findChains(t.Global, p.global, p.placeBarriers(t.Global, p.global, nil), p.abreast(), p.readElsewhere(needed(t)), nothing)
	p.findChains(needed(t), p.record, p.placeBarriers(needed(t), p.record, nil), p.abreast(), p.readElsewhere(nil), nothing)
	settle(p.global)
	settle(p.record)
	for i := range t.Terms {
		p.addTerm(&t.Terms[i])
	}
	for _, c := range t.Cross {
		p.addPair(c)
	}
	return p, nil
}

// check finds gradients that the kernels cannot sum.
func (p *program) check() error {
	for i := range p.tape.Terms {
		if !p.tape.Buffers[p.tape.Terms[i].Delta].Kind.PerRecord() {
			return fmt.Errorf("gpu: the tape's gradient is not per record")
		}
	}
	return nil
}

// UnsupportedError names the part of a model that the CUDA engine cannot run; the CPU
// engine runs everything.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string {
	return "gpu: the CUDA engine does not have " + e.What + " (use --device cpu)"
}

// needed is the part of the record stage that the gradient needs.
func needed(t *graph.Tape) []graph.Instr { return t.Record[:t.Gradient] }

func (p *program) size(b graph.Buf) int { return p.tape.Buffers[b].Size }

// instruction encodes one instruction.
func (p *program) instruction(in *graph.Instr) instr {
	c := instr{
		op: int32(in.Op), dst: p.place[in.Dst], size: int32(p.size(in.Dst)), count: int32(len(in.Into)),
		rows: int32(in.Rows), cols: int32(in.Cols), width: int32(max(in.Width, 1)),
	}
	o := operands(in)
	c.a, c.b, c.c = p.operand(o[0]), p.operand(o[1]), p.operand(o[2])
	switch in.Op {
	case graph.OpPut:
		c.into = p.list(in.Into)
	case graph.OpSum, graph.OpMaxReduce:
		c.into = p.list(bySource(in.Into, p.size(in.Dst)))
	case graph.OpMatVec:
		c.rowStep, c.colStep = int32(in.Cols), 1
		if in.Trans {
			c.rowStep, c.colStep = 1, int32(in.Rows)
		}
		if p.readsTable(in) {
			c.op, c.b = opRowMatVec, operand{space: inRows, at: int32(p.tape.Buffers[in.B.Buf].Offset)}
		}
	}
	return c
}

// operands lists the operands of an instruction; absent ones have NoBuf.
func operands(in *graph.Instr) [3]graph.Operand {
	if in.Op >= opProductSum {
		return [3]graph.Operand{in.A, in.B, in.C}
	}
	return in.Operands()
}

// operand encodes where an operand is; an absent one reads a constant.
func (p *program) operand(o graph.Operand) operand {
	if o.Buf == graph.NoBuf {
		return operand{index: -1}
	}
	b := &p.tape.Buffers[o.Buf]
	c := operand{at: p.place[o.Buf], index: -1}
	if b.Size > 1 {
		c.step = 1
	}
	if o.Map != nil {
		if first, step, ok := evenly(o.Map); ok {
			c.index, c.step = ^first, step
		} else {
			c.index = p.list(o.Map)
		}
	}
	switch {
	case p.inLanes[o.Buf]:
		c.space = inLanes
	case b.Kind == graph.KConst:
		c.space = inConstants
	case b.Kind == graph.KParam:
		c.space, c.at = inParameters, int32(b.Offset)
	case b.Kind == graph.KAux:
		c.space, c.at = inAux, int32(b.Offset)
	default:
		c.space = inGlobals
	}
	return c
}

// evenly reports whether a map's places are at even distances, and what they are: then no
// thread reads it.
func evenly(places []int32) (first, step int32, ok bool) {
	for i, at := range places {
		if at != places[0]+int32(i)*step {
			if i != 1 {
				return 0, 0, false
			}
			step = at - places[0]
		}
	}
	return places[0], step, true
}

// settle adds to operands' places where their maps begin: until then they are those of buffers.
func settle(list []instr) {
	for i := range list {
		for _, o := range []*operand{&list[i].a, &list[i].b, &list[i].c} {
			if o.index < 0 {
				o.at, o.index = o.at+^o.index, -1
			}
		}
	}
}

// list appends to the indices and returns where.
func (p *program) list(x []int32) int32 {
	at := len(p.indices)
	p.indices = append(p.indices, x...)
	return int32(at)
}

// bySource turns a list of targets into, for each of n targets, its sources in
// order: n+1 offsets, then the sources.
func bySource(into []int32, n int) []int32 {
	list := make([]int32, n+1, n+1+len(into))
	for _, j := range into {
		list[j+1]++
	}
	for j := range n {
		list[j+1] += list[j]
	}
	next := slices.Clone(list[:n])
	list = list[:n+1+len(into)]
	for i, j := range into {
		list[n+1+int(next[j])] = int32(i)
		next[j]++
	}
	return list
}

// Supports returns nil if the kernels can run a tape, or else an *UnsupportedError or
// another fault of the tape.
func Supports(t *graph.Tape) error {
	_, err := compile(t, wideProducts)
	return err
}

// Products is the number of multiplications that a tape's matrix products and gradients
// of weights take per record; a device is faster at these.
func Products(t *graph.Tape) (n int64) {
	for i := range needed(t) {
		if in := &t.Record[i]; in.Op == graph.OpMatVec || in.Op == graph.OpOuter {
			n += int64(in.Rows) * int64(in.Cols) * int64(max(in.Width, 1))
		}
	}
	for i := range t.Terms {
		if m := &t.Terms[i]; m.Kind == graph.TermOuter {
			n += int64(m.Rows) * int64(m.Cols) * int64(max(m.Width, 1))
		}
	}
	return n
}
