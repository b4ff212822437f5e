package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// execute runs instructions over the frame's lanes.
func (f *frame) execute(instrs []instr) {
	for i := range instrs {
		in := &instrs[i]
		switch in.Op {
		case graph.OpMatVec:
			f.matVec(in)
		case graph.OpOuter:
			f.outer(in)
		case graph.OpGather:
			f.gather(in)
		case graph.OpScatter:
			f.scatter(in)
		default:
			f.run(in.steps)
		}
	}
}

// element resolves element e of o.
func (f *frame) element(o graph.Operand, e int) operand {
	i := o.Index(e, f.p.tape.Buffers[o.Buf].Size)
	v := f.block(o.Buf)
	if !f.laned(o.Buf) && f.arena != nil {
		return operand{s: v[i]}
	}
	return operand{v: v[i*f.n : (i+1)*f.n]}
}

// outer sets Dst[r, c] = Σ_w A[r, w]·B[c, w].
func (f *frame) outer(in *instr) {
	dst := f.block(in.Dst)
	for r := range in.Rows {
		for c := range in.Cols {
			lane := dst[(r*in.Cols+c)*f.n:][:f.n]
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
