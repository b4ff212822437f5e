package gpu

import "d3p/internal/privacy"

// These numbers divide a batch into chunks. The division depends on the batch and the tape,
// never on the device or its memory. So sums have the same order, and results the same
// bits, on every device.
const (
	chunkUnit = 32   // records: a warp
	maxChunk  = 1024 // records: a few for each thread of a block
	aimChunks = 128  // about as many as a large device has multiprocessors
	maxSlots  = 256  // about as many as a large device has blocks at a time
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
	if k := p.together(); k > 0 {
		n = min(n, k)
	}
	return n
}

// together is the most records of a chunk where parts of a gradient can cancel,
// else 0.
func (p *program) together() int {
	if !privacy.Cancels(p.tape) {
		return 0
	}
	return privacy.TogetherAtMost(p.tape)
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
