package cpu

import (
	"d3p/internal/simd"
)

// narrow is the largest number of products with one record's columns that read the row in
// place. More products are one matrix product over lanes.
const narrow = 4

// matVec sets Dst[r, w] = Σ_c W[r, c]·B[c, w]: the same matrix for all records.
func (f *frame) matVec(in *instr) {
	if in.Width == 1 && !f.laned(in.Dst) {
		f.plainMatVec(in)
		return
	}
	if in.single >= 0 && f.weights32 != nil {
		f.singleMatVec(in)
		return
	}
	f.laneMatVec(in)
}

// rowMatVec reads the records' columns in place: one dot product per record and row
// of W. It prefetches the rows of later records.
func (f *frame) rowMatVec(in *instr, fetch int) {
	dst := f.block(in.Dst)
	w := f.values(in.A.Buf)
	if in.turned >= 0 {
		w = f.turned[in.turned:][:in.Rows*in.Cols]
	}
	offset := f.p.tape.Buffers[in.B.Buf].Offset
	for r := range in.Rows {
		lane, coefficients := dst[r*f.pitch:(r+1)*f.pitch], w[r*in.Cols:(r+1)*in.Cols]
		if f.rows.F32 != nil {
			simd.RowDots32(lane, coefficients, f.rows.F32[offset:], f.rows.Stride, f.ahead, fetch)
		} else {
			simd.RowDots64(lane, coefficients, f.rows.F64[offset:], f.rows.Stride, f.ahead, fetch)
		}
		fetch = 0
	}
}

// turn stores the transpose of the matrices that rowMatVec needs.
func (f *frame) turn(instrs []instr) {
	for i := range instrs {
		in := &instrs[i]
		if in.turned < 0 {
			continue
		}
		w := f.values(in.A.Buf)
		to := f.turned[in.turned:][:in.Rows*in.Cols]
		for c := range in.Cols {
			for r, x := range w[c*in.Rows : (c+1)*in.Rows] {
				to[r*in.Cols+c] = x
			}
		}
	}
}

// plainMatVec is a matrix times one vector, in the global stage.
func (f *frame) plainMatVec(in *instr) {
	dst, w, x := f.block(in.Dst), f.values(in.A.Buf), f.block(in.B.Buf)
	if !in.Trans {
		for r := range dst {
			dst[r] = simd.Dot(w[r*in.Cols:(r+1)*in.Cols], x)
		}
		return
	}
	clear(dst)
	for c, s := range x {
		simd.Axpy(dst, s, w[c*in.Rows:(c+1)*in.Rows])
	}
}

// laneMatVec is one matrix product over Width·pitch lanes.
func (f *frame) laneMatVec(in *instr) {
	dst, m := f.block(in.Dst), in.Width*f.pitch
	p := simd.Product{
		M: in.Rows, N: m, K: in.Cols, C: dst, LDC: m,
		A: f.values(in.A.Buf), ARow: in.Cols, ACol: 1, B: f.block(in.B.Buf), LDB: m,
	}
	if in.Trans {
		p.ARow, p.ACol = 1, in.Rows
	}
	clear(dst)
	p.Add()
}
