package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// frame resolves the buffers of a tape to memory, for one thread and one chunk of n
// records, or, with n = 1 and no lanes, for the global stage.
type frame struct {
	p      *program
	in     [simd.Spaces][]float64 // by space; all threads share the globals
	turned []float64              // transposes computed once per step, likewise

	weights32       []float32 // matrices rounded once per step, likewise; nil: rows are float64
	right32, left32 []float32 // factor and result of a product of a chunk

	matrices   []float64    // of an outer product, record after record
	incomplete []incomplete // incomplete gamma functions, by lane

	// An element has `pitch` lanes. The first n hold records. The others repeat the last
	// record to compute ordinary numbers; no sum includes them.
	n, pitch int
	noise    *noise.Stream
	drawn    []float64 // normals of the chunk's records, record after record

	rows   *privacy.Rows
	index  []uint32 // of the records of all lanes
	ahead  []uint32 // these rows, and the rows of later records of the batch
	padded []uint32 // memory for index where the batch ends within a vector
	fetch  int      // bytes of a row to fetch ahead of its use
	packed *packed  // the unpacked rows; nil: rows is the table
}

// take sets the chunk to the first n records of ahead.
func (f *frame) take(ahead []uint32, n int) {
	f.n, f.pitch = n, (n+laneUnit-1)/laneUnit*laneUnit
	if f.ahead = ahead; len(ahead) < f.pitch {
		f.ahead = append(f.padded[:0], ahead...)
		for len(f.ahead) < f.pitch {
			f.ahead = append(f.ahead, ahead[n-1])
		}
	}
	f.index = f.ahead[:f.pitch]
	if f.packed != nil {
		f.unpack()
	}
}

// values returns the scalars of a buffer that all records share.
func (f *frame) values(buf graph.Buf) []float64 {
	b := &f.p.tape.Buffers[buf]
	switch b.Kind {
	case graph.KConst:
		return b.Values
	case graph.KParam:
		return f.in[inTheta][b.Offset : b.Offset+b.Size]
	case graph.KAux:
		return f.in[inAux][b.Offset : b.Offset+b.Size]
	}
	at := f.p.place[buf]
	return f.in[inGlobal][at : at+b.Size]
}

// laned reports whether a buffer has lanes.
func (f *frame) laned(buf graph.Buf) bool { return f.p.lane[buf] }

// block returns the lanes of a buffer; element i is at [i·pitch, (i+1)·pitch). In the
// global stage the values are lanes of one record.
func (f *frame) block(buf graph.Buf) []float64 {
	if !f.laned(buf) {
		return f.values(buf)
	}
	return f.lanesAt(f.p.place[buf], f.p.tape.Buffers[buf].Size)
}

// lanesAt are count elements of the arena.
func (f *frame) lanesAt(at, count int) []float64 {
	return f.in[inLanes][at*f.pitch : (at+count)*f.pitch]
}

// one is element at of the arena, the lanes in use.
func (f *frame) one(at int) []float64 { return f.in[inLanes][at*f.pitch:][:f.n] }

// load starts a chunk: it computes the products with rows, which brings them into the
// cache, copies the columns that other operations read to lanes, and draws the per-record
// noise. position is the place of the chunk's first record in the batch.
func (f *frame) load(in privacy.StepInput, position int) {
	t := f.p.tape
	fetch := f.fetch
	for i := range f.p.inRows {
		f.rowMatVec(&f.p.inRows[i], fetch)
		fetch = 0
	}
	for _, c := range f.p.columns {
		lanes := f.lanesAt(c.place, c.count)
		if f.rows.F32 != nil {
			simd.Columns32(lanes, f.pitch, c.count, f.rows.F32[c.first:], f.rows.Stride, f.ahead, fetch)
		} else {
			simd.Columns64(lanes, f.pitch, c.count, f.rows.F64[c.first:], f.rows.Stride, f.index)
		}
		fetch = 0
	}
	if t.AuxRecord == 0 {
		return
	}
	// 16 normals take 8 blocks of the stream, and chunks are multiples of 16
	f.noise.SeekBlock(uint64(in.Step), uint64(position*t.AuxRecord/2))
	drawn := f.drawn[:f.n*t.AuxRecord]
	f.noise.Normals(drawn)
	for _, buf := range f.p.noise {
		lanes := f.block(buf)
		for i := range t.Buffers[buf].Size {
			for b := range f.pitch {
				lanes[i*f.pitch+b] = drawn[min(b, f.n-1)*t.AuxRecord+t.Buffers[buf].Offset+i]
			}
		}
	}
}
