package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// The large matrix products of a network's forward and backward pass are in float32 if the
// rows are: they run at twice the rate. Everything else is float64. In either precision a
// record's lanes depend only on that record and the parameters. So its norm, its clipping
// factor and the sum of products over records, all float64, belong to the same numbers
// (docs/privacy.md, claim 2).

// largeProduct is the smallest size of a matrix for which it pays to round the factors of a
// product.
const largeProduct = 4096

// singleWeights holds the places of the matrices' float32 copies, by buffer.
type singleWeights struct {
	at    map[graph.Buf]int
	size  int // numbers of all matrices
	right int // numbers per record of the largest right factor
	left  int // and of the largest result
}

// weights records the matrix of an instruction of the record stage and returns the place of
// its copy; -1 if it needs none.
func (w *singleWeights) weights(in *graph.Instr) int {
	if in.Op != graph.OpMatVec || in.Rows*in.Cols < largeProduct {
		return -1
	}
	at, seen := w.at[in.A.Buf]
	if !seen {
		if w.at == nil {
			w.at = map[graph.Buf]int{}
		}
		at = w.size
		w.at[in.A.Buf] = at
		w.size += in.Rows * in.Cols
	}
	w.right, w.left = max(w.right, in.Cols*in.Width), max(w.left, in.Rows*in.Width)
	return at
}

// narrowWeights rounds the matrices of this step's parameters: elements low <= i <
// high of all matrices in a row.
func (f *frame) narrowWeights(low, high int) {
	for buf, at := range f.p.single.at {
		x := f.values(buf)
		if from, to := max(low-at, 0), min(high-at, len(x)); from < to {
			simd.Narrow(f.weights32[at+from:at+to], x[from:to])
		}
	}
}

// singleMatVec is laneMatVec in float32.
func (f *frame) singleMatVec(in *instr) {
	dst, right, m := f.block(in.Dst), f.block(in.B.Buf), in.Width*f.pitch
	p := simd.Product32{
		M: in.Rows, N: m, K: in.Cols, C: f.left32[:len(dst)], LDC: m,
		A: f.weights32[in.single:], ARow: in.Cols, ACol: 1, B: f.right32[:len(right)], LDB: m,
	}
	if in.Trans {
		p.ARow, p.ACol = 1, in.Rows
	}
	simd.Narrow(p.B, right)
	clear(p.C)
	p.Add()
	simd.Widen(dst, p.C)
}
