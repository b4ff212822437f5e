package gpu

import (
	"slices"

	"d3p/internal/models/graph"
)

// The threads of a team share out an instruction and, in general, wait for each
// other before the next one: a microsecond or two where the team is all blocks of
// a device. Before an instruction of which every thread reads and overwrites only
// what it computed itself they need not, nor before one that has to do with other
// memory than those since they last waited.

// An access is what an instruction reads or writes.
type access struct {
	at, size int32
	writes   bool
	inTurn   bool // element e by the thread that each (kernel/team.h) gives e to
	part     bool // of a buffer, the other parts of which other puts write
}

// placeBarriers marks the instructions of a stage that wait.
func (p *program) placeBarriers(list []graph.Instr, coded []instr) {
	var since []access // the last barrier
	for i := range list {
		now := p.accesses(&list[i], &coded[i])
		if slices.ContainsFunc(now, func(x access) bool {
			return slices.ContainsFunc(since, func(y access) bool { return conflict(x, y) })
		}) {
			coded[i].waits = 1
			since = since[:0]
		}
		since = append(since, now...)
	}
}

// conflict says whether two accesses of one place may be by two threads, one of
// which writes.
func conflict(x, y access) bool {
	switch {
	case !x.writes && !y.writes, x.at >= y.at+y.size, y.at >= x.at+x.size:
		return false
	case x.at == y.at && (x.inTurn && y.inTurn || x.part && y.part):
		return false
	}
	return true
}

// accesses lists what an instruction does to the memory that its stage writes.
func (p *program) accesses(in *graph.Instr, coded *instr) []access {
	size := int32(p.size(in.Dst))
	list := []access{{at: coded.dst, size: size, writes: true, inTurn: in.Op != graph.OpMatVec && in.Op != graph.OpPut, part: in.Op == graph.OpPut}}
	space := inGlobals
	if p.inLanes[in.Dst] {
		space = inLanes
	}
	for i, o := range operands(in) {
		if c := [3]operand{coded.a, coded.b, coded.c}[i]; o.Buf != graph.NoBuf && c.space == space {
			n := int32(p.size(o.Buf))
			list = append(list, access{at: c.at, size: n, inTurn: in.Op.Arity() > 0 && o.Map == nil && n == size})
		}
	}
	return list
}
