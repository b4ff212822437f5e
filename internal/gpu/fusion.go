package gpu

import "d3p/internal/models/graph"

// A chain is element-wise instructions of one size that follow each other without a
// barrier. A thread takes some elements at a time through all of it (kernel/chain.h);
// after a product of a matrix these are its block's tiles. Numbers that only the next
// instruction reads stay in registers, and numbers that only the chain reads in shared
// memory: for Adam on all weights of a network this saves most of the traffic to memory.

// The lengths of a chain, the numbers that each thread can keep, and how many
// elements of tiles are taken at a time, as kernel/chain.h has them.
const (
	mostLinks      = 96
	mostSlots      = 12
	ofTilesAbreast = 2
)

// findChains marks the chains of a stage, whose instructions are shared out in `turns`,
// and moves the numbers that they keep; a thread takes `abreast` elements at a time.
// elsewhere marks the buffers with readers outside the stage's instructions, checked those in
// which a chain finds numbers that are not finite. One instruction is a chain if its result is
// checked, or if it is a product and its sum. Strand k of a chain has its place and length in
// link k, and the first link their number.
func (p *program) findChains(list []graph.Instr, coded []instr, turns []turn, abreast int, elsewhere, checked []bool) {
	last := make([]int, len(p.tape.Buffers)) // the last instruction that reads a buffer
	for i := range list {
		for _, o := range operands(&list[i]) {
			if o.Buf != graph.NoBuf {
				last[o.Buf] = i
			}
		}
	}
	start := 0 // of the chain that the strands are of
	for first, end := 0, 0; first < len(list); first = max(end, first+1) {
		end = p.chainEnd(list, coded, turns, first)
		strand := turns[first].rows < 0
		if end == first || end == first+1 && !checked[list[first].Dst] && turns[first] == inTurn && list[first].Op < opProductSum {
			continue
		}
		c, abreast := &coded[first], abreast
		c.chain, c.cols = int32(end-first), 0
		switch {
		case strand:
			if turns[first].cols == 0 {
				start = first
			}
			c.chain = 0
			k := coded[start].rowStep
			coded[start+int(k)].into, coded[start+int(k)].colStep = int32(first-start), int32(end-first)
			coded[start].chain += int32(end - first)
			coded[start].rowStep++
		case turns[first] != inTurn:
			c.cols, abreast = turns[first].cols, ofTilesAbreast
		}
		p.keepNumbers(list, coded, first, end, abreast, last, elsewhere, checked)
	}
}

// chainEnd is the end of the chain, or the strand, that begins with instruction `first`.
func (p *program) chainEnd(list []graph.Instr, coded []instr, turns []turn, first int) int {
	end := first
	for end < len(list) && end-first < mostLinks && p.links(&list[first], &list[end]) &&
		turns[end] == turns[first] && (end == first || coded[end].waits == 0) {
		end++
	}
	return end
}

// keepNumbers moves the numbers that only the chain of instructions [first, end) reads.
func (p *program) keepNumbers(list []graph.Instr, coded []instr, first, end, abreast int, last []int, elsewhere, checked []bool) {
	slots := slots{of: map[graph.Buf]int32{}, most: int32(mostSlots / abreast)}
	for i := first; i < end; i++ {
		c, dst := &coded[i], list[i].Dst
		c.width = int32(abreast)
		slots.move(&list[i], c, i, last)
		for k, o := range operands(&list[i]) {
			switch to := [3]*operand{&c.a, &c.b, &c.c}[k]; {
			case o.Buf == graph.NoBuf:
				*to = one
			case i > first && o.Buf == list[i-1].Dst:
				*to = before
			}
		}
		switch {
		case elsewhere[dst] || last[dst] >= end: // in memory
		case last[dst] <= i+1:
			c.dst = nowhere
		default:
			slots.keep(dst, c)
		}
		c.setHow(checked[dst])
	}
}

// How a link of a chain is executed: see kernel/chain.h. Each operand, and the result, has a
// bit for a slot and one for the number before.
const (
	ofResult = 3
	inSlot   = 1 << 0
	previous = 1 << 4
	linear   = 1 << 8
	minus    = 1 << 9
	told     = 1 << 10
)

// Operands of links: the neutral elements of a product and a sum, and the number before.
var (
	one    = operand{space: inNeutral, index: -1}
	zero   = operand{space: inNeutral, at: 1, index: -1}
	before = operand{space: inNeutral, at: 2, index: -1}
)

// setHow sets how a link is executed. A linear one is ±(a·b) + c.
func (c *instr) setHow(checked bool) {
	c.count = linear
	switch graph.Op(c.op) {
	case graph.OpAdd:
		c.b, c.c = one, c.b
	case graph.OpCopy:
		c.c = zero
	case graph.OpNeg:
		c.count, c.c = linear|minus, zero
	case graph.OpSub:
		c.count, c.a, c.b, c.c = linear|minus, c.b, one, c.a
	case graph.OpMul:
		c.c = zero
	case graph.OpSquare:
		c.b, c.c = c.a, zero
	case opProductSum:
	case opProductLess:
		c.count = linear | minus
	default:
		c.count = 0
	}
	for k, o := range []*operand{&c.a, &c.b, &c.c} {
		switch {
		case o.space == inSlots:
			c.count |= inSlot << k
		case *o == before:
			*o = one
			c.count |= previous << k
		}
	}
	switch {
	case c.dst == nowhere:
		c.count |= (previous | inSlot) << ofResult
	case c.dst < 0:
		c.count |= inSlot << ofResult
	}
	if checked {
		c.count |= told
	}
}

// abreast is how many elements chains of the likelihood take at a time: blocks that
// work together have about two for each thread, in chunks of few hundred records.
func (p *program) abreast() int {
	if p.wide() > 0 {
		return 2
	}
	return 1
}

// links reports whether an instruction can be in a chain that begins with another.
func (p *program) links(first, in *graph.Instr) bool {
	return isPlain(in) && p.size(in.Dst) == p.size(first.Dst)
}

// slots are where a thread keeps numbers of a chain.
type slots struct {
	of   map[graph.Buf]int32
	idle []int32
	used int32
	most int32
}

// move points the operands of instruction i at the kept numbers, and frees the slots
// without further readers.
func (s *slots) move(in *graph.Instr, coded *instr, i int, last []int) {
	to := [3]*operand{&coded.a, &coded.b, &coded.c}
	for k, o := range operands(in) {
		if slot, ok := s.of[o.Buf]; ok {
			*to[k] = operand{space: inSlots, at: slot, index: -1}
		}
	}
	for _, o := range operands(in) {
		if slot, ok := s.of[o.Buf]; ok && last[o.Buf] == i {
			s.idle = append(s.idle, slot)
			delete(s.of, o.Buf)
		}
	}
}

// keep gives the result of an instruction a slot, if there is one.
func (s *slots) keep(b graph.Buf, coded *instr) {
	if len(s.idle) == 0 && s.used < s.most {
		s.idle = append(s.idle, s.used)
		s.used++
	}
	if n := len(s.idle); n > 0 {
		s.of[b] = s.idle[n-1]
		coded.dst = ^s.idle[n-1]
		s.idle = s.idle[:n-1]
	}
}

// readElsewhere marks the buffers that terms or another stage's instructions read, or
// that are outputs.
func (p *program) readElsewhere(stage []graph.Instr) []bool {
	reads := make([]bool, len(p.tape.Buffers))
	for i := range p.tape.Terms {
		for _, b := range p.termReads(i) {
			reads[b] = true
		}
	}
	for _, b := range p.tape.Outputs {
		reads[b] = true
	}
	for i := range stage {
		for _, o := range operands(&stage[i]) {
			if o.Buf != graph.NoBuf {
				reads[o.Buf] = true
			}
		}
	}
	return reads
}
