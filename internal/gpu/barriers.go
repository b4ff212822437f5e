package gpu

import (
	"slices"

	"d3p/internal/models/graph"
)

// The threads of a team share out an instruction and, in general, wait for each other
// before the next one: a microsecond or two where the team is all blocks of a device.
// They need not wait before an instruction if every thread reads and overwrites only its
// own results, or if the instruction uses other memory than those since the last barrier.

// A turn is the order in which threads share out elements: that of `each`
// (kernel/team.h), or the order of the tiles of products with a matrix of these rows and
// columns, or that of a strand (strands.go), with rows < 0. Each block always has the same
// tiles, and waits alone.
type turn struct{ rows, cols int32 }

var (
	anyTurn = turn{}
	inTurn  = turn{1, 1}
)

// An access is memory that an instruction reads or writes.
type access struct {
	at, size int32
	writes   bool
	turn     turn // in which elements are shared out; anyTurn: any thread has any
	part     bool // part of a buffer, whose other parts other puts write
}

// placeBarriers marks the instructions of a stage that wait, and sets the turn of each.
// Element-wise instructions after a product follow its tiles if that needs no barrier.
// strands are the turns of instructions in strands; nil: none is. They need no mark: a block
// waits by itself where it begins a chain (kernel/chain.h).
func (p *program) placeBarriers(list []graph.Instr, coded []instr, strands []turn) []turn {
	turns := make([]turn, len(list))
	var since []access // the last barrier
	conflicts := func(now []access) bool {
		return slices.ContainsFunc(now, func(x access) bool {
			return slices.ContainsFunc(since, func(y access) bool { return conflict(x, y) })
		})
	}
	for i, end := 0, 0; i < len(list); i = end {
		end = i + 1
		if strands != nil && strands[i] != anyTurn {
			var now []access
			for end = i; end < len(list) && strands[end].rows == strands[i].rows; end++ {
				turns[end] = strands[end]
				now = append(now, p.accesses(&list[end], &coded[end], turns[end])...)
			}
			since = now
			continue
		}
		turns[i] = inTurn
		if i > 0 && p.links(&list[i-1], &list[i]) && turns[i-1].rows > 0 {
			turns[i] = turns[i-1]
		}
		if isTiled(&coded[i]) {
			turns[i] = turn{coded[i].rows, coded[i].cols}
		}
		now := p.accesses(&list[i], &coded[i], turns[i])
		if conflicts(now) && isPlain(&list[i]) {
			turns[i] = inTurn
			now = p.accesses(&list[i], &coded[i], inTurn)
		}
		if conflicts(now) {
			coded[i].waits = 1
			since = since[:0]
		}
		since = append(since, now...)
	}
	return turns
}

// isTiled reports whether an instruction is a product for which the kernels compute only
// elements of one place in tiles (kernel/multiply.h).
func isTiled(c *instr) bool {
	return graph.Op(c.op) == graph.OpMatVec && c.b.space == inLanes && c.width == 1 && c.rows >= leastTiled && c.cols >= leastTiled
}

// leastTiled is the least number of rows, and of columns, of a matrix whose products
// are taken in tiles: see kernel/multiply.h.
const leastTiled = 16

// conflict reports whether two threads may access one place, and one of them writes.
func conflict(x, y access) bool {
	switch {
	case !x.writes && !y.writes, x.at >= y.at+y.size, y.at >= x.at+x.size:
		return false
	case x.at == y.at && (x.turn == y.turn && x.turn != anyTurn || x.part && y.part):
		return false
	}
	return true
}

// accesses lists the reads and writes by an instruction of the memory that its stage writes.
// The turn distributes the instruction among threads.
func (p *program) accesses(in *graph.Instr, coded *instr, of turn) []access {
	size := int32(p.size(in.Dst))
	result := access{at: coded.dst, size: size, writes: true, turn: of}
	if in.Op == graph.OpPut || in.Op == graph.OpMatVec && !isTiled(coded) {
		result.turn, result.part = anyTurn, in.Op == graph.OpPut
	}
	list := []access{result}
	space := inGlobals
	if p.inLanes[in.Dst] {
		space = inLanes
	}
	for i, o := range operands(in) {
		if c := [3]operand{coded.a, coded.b, coded.c}[i]; o.Buf != graph.NoBuf && c.space == space {
			x := access{at: c.at, size: int32(p.size(o.Buf))}
			if arity(in.Op) > 0 && o.Map == nil && x.size == size {
				x.turn = of
			}
			list = append(list, x)
		}
	}
	return list
}
