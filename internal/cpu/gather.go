package cpu

import (
	"math"

	"d3p/internal/models/graph"
)

// picked are the rows that the chunk's records pick by an index, as whole numbers; -1 for
// an index outside of 0..rows-1. Element w of record b picks picked[w·pitch + b]. The
// global stage has one lane.
func (f *frame) picked(index graph.Buf, rows int) []float64 {
	width := f.p.tape.Buffers[index].Size
	if f.laned(index) {
		return f.lanesAt(f.p.blocks[pick{index, rows}], width)
	}
	picked := make([]float64, width)
	for w, x := range f.values(index) {
		if picked[w] = -1; x > -1 && x < float64(rows) { // NaN is outside, too
			picked[w] = math.Trunc(x)
		}
	}
	return picked
}

// gather sets Dst to row k of A, where k is the record's index; NaN for an index outside.
func (f *frame) gather(in *instr) {
	dst, table := f.block(in.Dst), f.block(in.A.Buf)
	step, lane := 1, 0 // from one element of the table to the next, and from one record to the next
	if f.laned(in.A.Buf) {
		step, lane = f.pitch, 1
	}
	picked := f.picked(in.B.Buf, in.Rows)
	for i := range in.Cols {
		to := dst[i*len(picked):][:len(picked)]
		for j, k := range picked {
			if to[j] = math.NaN(); k >= 0 {
				to[j] = table[(int(k)*in.Cols+i)*step+j%f.pitch*lane]
			}
		}
	}
}

// scatter adds A to row k of Dst, which is zero elsewhere. If k is outside, all of Dst is
// NaN.
func (f *frame) scatter(in *instr) {
	dst := f.block(in.Dst)
	clear(dst)
	picked := f.picked(in.B.Buf, in.Rows)
	for i := range in.Cols {
		for w := range in.Width {
			a := f.element(in.A, i*in.Width+w)
			for b, k := range picked[w*f.pitch:][:f.pitch] {
				if k >= 0 {
					dst[(int(k)*in.Cols+i)*f.pitch+b] += a.at(b)
				}
			}
		}
	}
	f.spoil(dst, picked)
}

// spoil sets the lanes of records with an index outside to NaN.
func (f *frame) spoil(dst, picked []float64) {
	for i, k := range picked {
		for j := i % f.pitch; k < 0 && j < len(dst); j += f.pitch {
			dst[j] = math.NaN()
		}
	}
}
