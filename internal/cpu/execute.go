package cpu

import (
	"math"

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

// gather sets Dst to block k of A, with k the record's index; NaN outside.
func (f *frame) gather(in *instr) {
	dst := f.block(in.Dst)
	table := f.block(in.A.Buf)
	index := f.element(in.B, 0)
	shared := f.arena != nil && !f.laned(in.A.Buf) // one table for all records
	for b := range f.n {
		k := blockIndex(index.at(b), in.Rows)
		to := b
		switch {
		case k < 0:
			for range in.Cols {
				dst[to] = math.NaN()
				to += f.n
			}
		case shared:
			for _, x := range table[k*in.Cols : (k+1)*in.Cols] {
				dst[to] = x
				to += f.n
			}
		default:
			from := k*in.Cols*f.n + b
			for range in.Cols {
				dst[to] = table[from]
				to, from = to+f.n, from+f.n
			}
		}
	}
}

// scatter puts A at block k of Dst, zero elsewhere; all NaN when k is outside.
func (f *frame) scatter(in *instr) {
	dst := f.block(in.Dst)
	clear(dst)
	index := f.element(in.B, 0)
	for b := range f.n {
		k := blockIndex(index.at(b), in.Rows)
		if k < 0 {
			for i := range in.size {
				dst[i*f.n+b] = math.NaN()
			}
			continue
		}
		for i := range in.Cols {
			a := f.element(in.A, i)
			dst[(k*in.Cols+i)*f.n+b] = a.at(b)
		}
	}
}

// blockIndex is an index truncated, or -1 when it is not in 0..rows-1.
func blockIndex(x float64, rows int) int {
	if !(x > -1 && x < float64(rows)) { // NaN is outside
		return -1
	}
	return int(x)
}
