package cpu

import (
	"math"

	"d3p/internal/cpu/kernel"
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// execute runs instructions over the frame's lanes.
func (f *frame) execute(instrs []instr) {
	for i := range instrs {
		in := &instrs[i]
		switch in.Op {
		case graph.OpPut:
			f.put(in)
		case graph.OpSum:
			f.sum(in)
		case graph.OpMaxReduce:
			f.maximum(in)
		case graph.OpMatVec:
			f.matVec(in)
		case graph.OpOuter:
			f.outer(in)
		case graph.OpGather:
			f.gather(in)
		case graph.OpScatter:
			f.scatter(in)
		default:
			f.elementwise(in)
		}
	}
}

// An operand is what one loop reads: one value per lane, or a scalar.
type operand struct {
	v      []float64
	s      float64
	scalar bool
}

// operand resolves all of o (for a flat instruction of m values).
func (f *frame) whole(o graph.Operand, m int) operand {
	v := f.block(o.Buf)
	if len(v) == 1 && m > 1 || f.index0(o.Buf) {
		return operand{s: v[0], scalar: true}
	}
	return operand{v: v}
}

// index0 says whether a buffer is a scalar for all records of a chunk.
func (f *frame) index0(buf graph.Buf) bool {
	return f.arena != nil && !f.laned(buf)
}

// element resolves element e of o.
func (f *frame) element(o graph.Operand, e int) operand {
	i := o.Index(e, f.p.tape.Buffers[o.Buf].Size)
	v := f.block(o.Buf)
	if f.index0(o.Buf) {
		return operand{s: v[i], scalar: true}
	}
	return operand{v: v[i*f.n : (i+1)*f.n]}
}

// elementwise runs one loop over everything where the operands allow it, else
// one per element of the result.
func (f *frame) elementwise(in *instr) {
	dst := f.block(in.Dst)
	arity := in.Op.Arity()
	var a, b, c operand
	if in.flat {
		a = f.whole(in.A, len(dst))
		if arity > 1 {
			b = f.whole(in.B, len(dst))
		}
		if arity > 2 {
			c = f.whole(in.C, len(dst))
		}
		apply(in.Op, dst, a, b, c)
		return
	}
	for e := range in.size {
		a = f.element(in.A, e)
		if arity > 1 {
			b = f.element(in.B, e)
		}
		if arity > 2 {
			c = f.element(in.C, e)
		}
		apply(in.Op, dst[e*f.n:(e+1)*f.n], a, b, c)
	}
}

// put copies elements into part of a buffer.
func (f *frame) put(in *instr) {
	dst := f.block(in.Dst)
	for e, to := range in.Into {
		lane := dst[int(to)*f.n : (int(to)+1)*f.n]
		if a := f.element(in.A, e); a.scalar {
			kernel.Fill(lane, a.s)
		} else {
			copy(lane, a.v)
		}
	}
}

func (f *frame) sum(in *instr) {
	dst := f.block(in.Dst)
	clear(dst)
	for e, to := range in.Into {
		lane := dst[int(to)*f.n : (int(to)+1)*f.n]
		if a := f.element(in.A, e); a.scalar {
			simd.AddScalar(lane, lane, a.s)
		} else {
			simd.Add(lane, lane, a.v)
		}
	}
}

func (f *frame) maximum(in *instr) {
	dst := f.block(in.Dst)
	kernel.Fill(dst, math.Inf(-1))
	for e, to := range in.Into {
		lane := dst[int(to)*f.n : (int(to)+1)*f.n]
		if a := f.element(in.A, e); a.scalar {
			for i := range lane {
				lane[i] = max(lane[i], a.s)
			}
		} else {
			kernel.MaxTo(lane, a.v)
		}
	}
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
				case a.scalar && b.scalar:
					simd.AddScalar(lane, lane, a.s*b.s)
				case a.scalar:
					simd.Axpy(lane, a.s, b.v)
				case b.scalar:
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
	shared := f.index0(in.A.Buf) // one table for all records
	for b := range f.n {
		k := blockIndex(index, b, in.Rows)
		for i := range in.Cols {
			switch {
			case k < 0:
				dst[i*f.n+b] = math.NaN()
			case shared:
				dst[i*f.n+b] = table[k*in.Cols+i]
			default:
				dst[i*f.n+b] = table[(k*in.Cols+i)*f.n+b]
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
		k := blockIndex(index, b, in.Rows)
		if k < 0 {
			for i := range in.size {
				dst[i*f.n+b] = math.NaN()
			}
			continue
		}
		for i := range in.Cols {
			if a := f.element(in.A, i); a.scalar {
				dst[(k*in.Cols+i)*f.n+b] = a.s
			} else {
				dst[(k*in.Cols+i)*f.n+b] = a.v[b]
			}
		}
	}
}

// blockIndex is the index of lane b truncated, or -1 when it is not in 0..rows-1.
func blockIndex(index operand, b, rows int) int {
	x := index.s
	if !index.scalar {
		x = index.v[b]
	}
	if !(x > -1 && x < float64(rows)) { // NaN is outside
		return -1
	}
	return int(x)
}
