package cpu

import "d3p/internal/cpu/kernel"

// matVec sets Dst[r, w] = Σ_c W[r, c]·B[c, w]: the same matrix for all records.
func (f *frame) matVec(in *instr) {
	switch {
	case in.inRows && f.rows.F32 != nil:
		rowMatVec(f, in, f.rows.F32)
	case in.inRows:
		rowMatVec(f, in, f.rows.F64)
	case in.Width*f.n == 1:
		f.plainMatVec(in)
	default:
		f.laneMatVec(in)
	}
}

// rowMatVec reads the records' columns in place: one dot product per record and
// row of W.
func rowMatVec[T kernel.Real](f *frame, in *instr, rows []T) {
	dst := f.block(in.Dst)
	w := f.values(in.A.Buf)
	if in.turned >= 0 {
		w = f.turned[in.turned:][:in.Rows*in.Cols]
	}
	offset := f.p.tape.Buffers[in.B.Buf].Offset
	for b := range f.n {
		x := rows[f.row(b)*f.rows.Stride+offset:][:in.Cols]
		for r := range in.Rows {
			dst[r*f.n+b] = kernel.RowDot(w[r*in.Cols:(r+1)*in.Cols], x)
		}
	}
}

// turn keeps the transpose of the matrices that rowMatVec needs.
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
			dst[r] = kernel.Dot(w[r*in.Cols:(r+1)*in.Cols], x)
		}
		return
	}
	clear(dst)
	for c, s := range x {
		kernel.Axpy(dst, s, w[c*in.Rows:(c+1)*in.Rows])
	}
}

// laneMatVec works on Width·n lanes at once, four columns of W per pass, in
// order of c.
func (f *frame) laneMatVec(in *instr) {
	dst, w, x := f.block(in.Dst), f.values(in.A.Buf), f.block(in.B.Buf)
	m := in.Width * f.n
	rowStep, colStep := in.Cols, 1
	if in.Trans {
		rowStep, colStep = 1, in.Rows
	}
	for r := range in.Rows {
		lane := dst[r*m : (r+1)*m]
		clear(lane)
		at := r * rowStep
		c := 0
		for ; c+4 <= in.Cols; c += 4 {
			s := [4]float64{w[at], w[at+colStep], w[at+2*colStep], w[at+3*colStep]}
			kernel.Axpy4(lane, &s, x[c*m:(c+1)*m], x[(c+1)*m:(c+2)*m], x[(c+2)*m:(c+3)*m], x[(c+3)*m:(c+4)*m])
			at += 4 * colStep
		}
		for ; c < in.Cols; c++ {
			kernel.Axpy(lane, w[at], x[c*m:(c+1)*m])
			at += colStep
		}
	}
}
