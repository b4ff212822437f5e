package gpu

import (
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// These numbers divide a batch into chunks. The division depends on the batch and the tape,
// never on the device or its memory. So sums have the same order, and results the same
// bits, on every device.
const (
	chunkUnit = 32   // records: a warp
	maxChunk  = 1024 // records: a few for each thread of a block
	aimChunks = 128  // about as many as a large device has multiprocessors
	maxSlots  = 256  // about as many as a large device has blocks at a time
	// cachedBytes is a block's share of the cache: 264 of them have 50 MB on an H100.
	cachedBytes = 1 << 17
	// partRecords is the most records in one launch.
	partRecords = 1 << 20
)

// lanesPerRecord is how many numbers a chunk keeps per record: lanes of the
// tape, inner products, factor and part in the count.
func (p *program) lanesPerRecord() int { return p.lanes.count + len(p.dots) + 2 }

// All blocks together run a tape with large products, on one chunk after the other, each
// of as many records as wideNumbers allow. Each block runs other tapes on its own chunks.
const (
	wideProducts = 1 << 14
	wideNumbers  = 1 << 26
	wideChunk    = 4096
)

// wide is the number of records of a chunk that all blocks work on; 0 when each
// block has its own.
func (p *program) wide() int {
	if Products(p.tape) < p.wideFrom {
		return 0
	}
	return min(wideChunk, max(chunkUnit, wideNumbers/p.lanesPerRecord()/chunkUnit*chunkUnit))
}

// unit is the number of records that parts of a batch are multiples of.
func (p *program) unit() int { return max(maxChunk, p.wide()) }

// unitOf is the unit for a table of N records: no batch has longer chunks.
func (p *program) unitOf(N int) int {
	return min(p.unit(), (p.chunk(N)+chunkUnit-1)/chunkUnit*chunkUnit)
}

// chunk is the number of records that a block takes at a time.
func (p *program) chunk(size int) int {
	n := p.wide()
	if n == 0 {
		n = (size + aimChunks - 1) / aimChunks
		n = min(maxChunk, max(1, (n+chunkUnit-1)/chunkUnit)*chunkUnit)
	}
	return min(n, p.longest())
}

// longest is the most records of a chunk: fewer where parts of a gradient can cancel, or
// where a block reads them in place once more for their sums, so that all blocks find them
// in the device's cache.
func (p *program) longest() int {
	n := math.MaxInt32
	if privacy.Cancels(p.tape) {
		n = privacy.TogetherAtMost(p.tape)
	}
	inRows := func(t term) bool { return t.xInRows != 0 }
	if p.wide() == 0 && slices.ContainsFunc(p.terms, inRows) {
		chunk := maxChunk
		for chunk > chunkUnit && 4*p.tape.K*chunk > cachedBytes {
			chunk /= 2
		}
		n = min(n, chunk)
	}
	return n
}

// slotBytes is the memory of one slot: lanes of a chunk and a sum.
func (p *program) slotBytes(chunk int) int64 {
	return 8 * (int64(p.lanesPerRecord())*int64(chunk) + int64(p.tape.P) + 1)
}

// slotBudget is the memory for slots, unless one alone takes more.
const slotBudget = 256 << 20

// slots is how many sums a batch is spread over.
func (p *program) slots(size, chunk int) int {
	if p.wide() > 0 {
		return 1
	}
	chunks := (size + chunk - 1) / chunk
	return max(1, min(chunks, maxSlots, int(slotBudget/p.slotBytes(chunk))))
}

// slotReserve is the most memory that the slots of a batch take.
func (p *program) slotReserve() int64 {
	one := p.slotBytes(p.unit())
	if p.wide() > 0 {
		return one
	}
	return max(one, min(slotBudget, maxSlots*one))
}

// Lanes are memory of a chunk: one number per record. Another buffer of the same size
// takes a place when the old one has no further readers.
type lanes struct {
	count int             // in all
	idle  map[int][]int32 // places, by size
}

func (l *lanes) take(size int) int32 {
	if idle := l.idle[size]; len(idle) > 0 {
		l.idle[size] = idle[:len(idle)-1]
		return idle[len(idle)-1]
	}
	at := l.count
	l.count += size
	return int32(at)
}

func (l *lanes) give(at int32, size int) {
	if l.idle == nil {
		l.idle = map[int][]int32{}
	}
	l.idle[size] = append(l.idle[size], at)
}

// placeFixed places constants and values that are computed once per step.
func (p *program) placeFixed() {
	for i, b := range p.tape.Buffers {
		switch b.Kind {
		case graph.KConst:
			p.place[i] = int32(len(p.constants))
			p.constants = append(p.constants, b.Values...)
		case graph.KGlobal:
			p.place[i] = int32(p.globals)
			p.globals += b.Size
		}
	}
}

// placeColumns gives lanes to the blocks of columns, and of noise per record,
// that are not only read from the table in place.
func (p *program) placeColumns() {
	read := make([]bool, len(p.tape.Buffers))
	for i := range needed(p.tape) {
		in := &p.tape.Record[i]
		for k, o := range operands(in) {
			if o.Buf != graph.NoBuf && !(k == 1 && p.readsTable(in)) {
				read[o.Buf] = true
			}
		}
	}
	for i := range p.tape.Terms {
		for _, b := range p.termReads(i) {
			read[b] = true
		}
	}
	for i, b := range p.tape.Buffers {
		if read[i] && (b.Kind == graph.KColumn || b.Kind == graph.KAuxRecord) {
			p.place[i], p.inLanes[i] = p.lanes.take(b.Size), true
			drawn := int32(0)
			if b.Kind == graph.KAuxRecord {
				drawn = 1
			}
			p.columns = append(p.columns, column{offset: int32(b.Offset), size: int32(b.Size), at: p.place[i], drawn: drawn})
		}
	}
}

// readsTable reports whether an instruction of the record stage is a product that reads
// columns from the table in place.
func (p *program) readsTable(in *graph.Instr) bool {
	return in.Op == graph.OpMatVec && in.Width == 1 && in.Rows <= inPlace && p.tape.Buffers[in.B.Buf].Kind == graph.KColumn
}

// placeResults gives lanes to the results of the record stage, from the
// instruction that writes them to the last one that reads them; what terms read
// keeps its lanes.
func (p *program) placeResults() {
	list := needed(p.tape)
	last := make([]int, len(p.tape.Buffers))
	for i := range list {
		for _, o := range operands(&list[i]) {
			if o.Buf != graph.NoBuf {
				last[o.Buf] = i
			}
		}
		last[list[i].Dst] = i
	}
	for i := range p.tape.Terms {
		for _, b := range p.termReads(i) {
			last[b] = len(list)
		}
	}
	for i := range list {
		dst := list[i].Dst
		if !p.inLanes[dst] {
			p.place[dst], p.inLanes[dst] = p.lanes.take(p.size(dst)), true
		}
		o := operands(&list[i])
		for _, b := range []graph.Buf{dst, o[0].Buf, o[1].Buf, o[2].Buf} {
			if b != graph.NoBuf && p.inLanes[b] && last[b] == i {
				last[b] = -1 // freed once
				p.lanes.give(p.place[b], p.size(b))
			}
		}
	}
}
