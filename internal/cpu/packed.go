package cpu

import (
	"slices"

	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// packed is a packed table. The frame's rows are the unpacked rows of the chunk, in the
// order of the batch, with the columns that the tape reads.
type packed struct {
	rows     *privacy.Rows
	runs     []privacy.PackedRun
	order    []uint32 // 0, 1, ...: the frame's index
	fetch    int
	allValid bool
}

// unpacks prepares a frame for a packed table.
func (f *frame) unpacks(rows *privacy.Rows, allValid bool) {
	n := f.p.chunk
	f.packed = &packed{rows: rows, runs: rows.Packing.Runs(rows.K, f.p.readsColumn()), fetch: f.fetch, allValid: allValid, order: make([]uint32, n)}
	for i := range f.packed.order {
		f.packed.order[i] = uint32(i)
	}
	f.rows, f.fetch = privacy.NewRows(privacy.Float32, n, rows.K, rows.K), 0
}

// readsColumn reports which columns of the table the record stage and the sums read.
func (p *program) readsColumn() func(column int) bool {
	var read []bool
	mark := func(first, count int) {
		read = append(read, make([]bool, max(0, first+count-len(read)))...)
		copy(read[first:first+count], slices.Repeat([]bool{true}, count))
	}
	for _, c := range p.columns {
		mark(c.first, c.count)
	}
	for i := range p.inRows {
		mark(p.tape.Buffers[p.inRows[i].B.Buf].Offset, p.inRows[i].Cols)
	}
	for i := range p.terms {
		if t := &p.terms[i]; t.xInRows {
			mark(p.tape.Buffers[t.X].Offset, t.Rows)
		}
	}
	return func(column int) bool { return column < len(read) && read[column] }
}

// unpack copies the rows of the chunk.
func (f *frame) unpack() {
	from, to := f.packed.rows, f.rows
	fetch := f.packed.fetch
	for _, run := range f.packed.runs {
		unpack := simd.Unpack8
		if run.Size == 4 {
			unpack = simd.Unpack32
		}
		unpack(to.F32[run.First:], to.Stride, f.pitch, run.Count, from.F32, from.Stride, run.At, f.ahead, fetch)
		fetch = 0
		if run.Size == 2 {
			simd.Unpack16(to.F32[run.First:], to.Stride, f.pitch, from.F32, from.Stride, run.At, f.ahead)
		}
		for j, numbers := range run.Numbers {
			if numbers != nil {
				simd.LookUp(to.F32[run.First+j:], to.Stride, f.pitch, numbers)
			}
		}
	}
	if !f.packed.allValid {
		for b, k := range f.index {
			to.Valid[b] = from.Valid[k]
		}
	}
	f.ahead = f.packed.order[:f.pitch]
	f.index = f.ahead
}
