package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// planOuter reserves memory for the factors and the result of an outer product, record
// by record.
func (p *program) planOuter(in *graph.Instr) {
	p.matrices = max(p.matrices, (in.Rows+in.Cols)*in.Width+in.Rows*in.Cols)
}

// outer sets Dst[r, c] = Σ_w A[r, w]·B[c, w].
func (f *frame) outer(in *instr) {
	dst := f.block(in.Dst)
	if f.matrices != nil && f.laned(in.Dst) && f.laned(in.A.Buf) && f.laned(in.B.Buf) {
		f.outerOfRecords(dst, in)
		return
	}
	for r := range in.Rows {
		for c := range in.Cols {
			lane := dst[(r*in.Cols+c)*f.pitch:][:f.pitch]
			clear(lane)
			for w := range in.Width {
				a, b := f.element(in.A, r*in.Width+w), f.element(in.B, c*in.Width+w)
				switch {
				case a.v == nil && b.v == nil:
					simd.AddScalar(lane, lane, a.s*b.s)
				case a.v == nil:
					simd.Axpy(lane, a.s, b.v)
				case b.v == nil:
					simd.Axpy(lane, b.s, a.v)
				default:
					simd.AddProduct(lane, a.v, b.v)
				}
			}
		}
	}
}

// outerOfRecords is outer as one matrix product for each record.
func (f *frame) outerOfRecords(dst []float64, in *instr) {
	x, y := f.block(in.A.Buf), f.block(in.B.Buf)
	left, right, results := in.Rows*in.Width, in.Cols*in.Width, in.Rows*in.Cols
	ones := f.p.ones[:f.pitch]
	a, b := f.matrices[:left*f.pitch], f.matrices[left*f.pitch:][:right*f.pitch]
	c := f.matrices[(left+right)*f.pitch:][:results*f.pitch]
	simd.ScaledTranspose(a, left, x, f.pitch, left, ones)
	for w := range in.Width { // the right factor has a row for each w
		simd.ScaledTranspose(b[w*in.Cols:], right, y[w*f.pitch:], in.Width*f.pitch, in.Cols, ones)
	}
	clear(c)
	for k := range f.pitch {
		simd.Product{
			M: in.Rows, N: in.Cols, K: in.Width, C: c[k*results:], LDC: in.Cols,
			A: a[k*left:], ARow: in.Width, ACol: 1, B: b[k*right:], LDB: in.Cols,
		}.Add()
	}
	const unit = 8 // of ScaledTranspose
	whole := results / unit * unit
	simd.ScaledTranspose(dst, f.pitch, c, results, f.pitch, f.p.ones[:whole])
	for e := whole; e < results; e++ {
		for k := range f.pitch {
			dst[e*f.pitch+k] = c[k*results+e]
		}
	}
}

// element resolves element e of o.
func (f *frame) element(o graph.Operand, e int) operand {
	i := o.Index(e, f.p.tape.Buffers[o.Buf].Size)
	v := f.block(o.Buf)
	if !f.laned(o.Buf) {
		return operand{s: v[i]}
	}
	return operand{v: v[i*f.pitch : (i+1)*f.pitch]}
}
