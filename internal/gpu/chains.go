package gpu

import "d3p/internal/models/graph"

// A chain is element-wise instructions of one size that follow each other without
// a barrier. A thread takes one element after the other through all of it
// (kernel/chain.h), and what nobody but the chain reads stays in shared memory: of
// Adam on all weights of a network most of what would go to memory.

// The lengths of a chain, and the numbers that each thread can keep, as
// kernel/chain.h has them.
const (
	mostLinks = 64
	mostSlots = 12
)

// findChains marks the chains of a stage and moves what they keep. elsewhere says
// which buffers are read by others than the stage's instructions.
func (p *program) findChains(list []graph.Instr, coded []instr, elsewhere []bool) {
	last := make([]int, len(p.tape.Buffers)) // the last instruction that reads a buffer
	for i := range list {
		for _, o := range operands(&list[i]) {
			if o.Buf != graph.NoBuf {
				last[o.Buf] = i
			}
		}
	}
	for first, end := 0, 0; first < len(list); first = max(end, first+1) {
		for end = first; end < len(list) && end-first < mostLinks && p.links(&list[first], &list[end]) &&
			(end == first || coded[end].waits == 0); {
			end++
		}
		if end-first < 2 {
			continue
		}
		coded[first].chain = int32(end - first)
		slots := slots{of: map[graph.Buf]int32{}}
		for i := first; i < end; i++ {
			dst := list[i].Dst
			slots.move(&list[i], &coded[i], i, last)
			if !elsewhere[dst] && last[dst] < end {
				slots.keep(dst, &coded[i])
			}
		}
	}
}

// links says whether an instruction can be in a chain that begins with another.
func (p *program) links(first, in *graph.Instr) bool {
	if in.Op.Arity() == 0 || p.size(in.Dst) != p.size(first.Dst) {
		return false
	}
	for _, o := range operands(in) {
		if o.Map != nil {
			return false
		}
	}
	return true
}

// slots are where a thread keeps numbers of a chain.
type slots struct {
	of   map[graph.Buf]int32
	idle []int32
	used int32
}

// move points the operands of instruction i at what is kept, and gives up the slots
// that are not read any more.
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
	if len(s.idle) == 0 && s.used < mostSlots {
		s.idle = append(s.idle, s.used)
		s.used++
	}
	if n := len(s.idle); n > 0 {
		s.of[b] = s.idle[n-1]
		coded.dst = ^s.idle[n-1]
		s.idle = s.idle[:n-1]
	}
}

// readElsewhere says which buffers terms read, or outputs are, or another stage's
// instructions read.
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
