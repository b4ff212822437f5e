package cpu

import (
	"d3p/internal/cpu/kernel"
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// accumulate adds Σ_b f_b·g_b of the chunk to sum, length P.
func (c *context) accumulate(sum []float64) {
	for i := range c.p.terms {
		t := &c.p.terms[i]
		if t.kept {
			c.sumKept(sum, t)
			continue
		}
		weighted := c.weigh(t)
		switch {
		case t.Kind == graph.TermDense:
			c.sumDense(sum, t, weighted)
		case t.Kind == graph.TermScatter:
			c.sumScatter(sum, t, weighted)
		case t.xInRows:
			c.sumRows(sum, t, weighted)
		default:
			c.sumOuter(sum, t, weighted)
		}
	}
}

// weigh returns f_b·Delta, [Cols × n], with exact zeros for records that count
// as zero even where Delta is not finite.
func (c *context) weigh(t *term) []float64 {
	delta := c.block(t.Delta)
	weighted := c.weighted[:len(delta)]
	factor := c.factor[:c.n]
	for lo := 0; lo < len(delta); lo += c.n {
		simd.Mul(weighted[lo:lo+c.n], delta[lo:lo+c.n], factor)
	}
	c.clearZeros(weighted)
	return weighted
}

// clearZeros sets the lanes of records that count as zero to zero: 0 times a
// value that is not finite is not 0.
func (c *context) clearZeros(lanes []float64) {
	if c.zeros == 0 {
		return
	}
	for b, f := range c.factor[:c.n] {
		if f == 0 {
			for j := b; j < len(lanes); j += c.n {
				lanes[j] = 0
			}
		}
	}
}

func (c *context) sumDense(sum []float64, t *term, weighted []float64) {
	for r := range t.Rows {
		for col := range t.Cols {
			lane := weighted[(r*t.Cols+col)*c.n:][:c.n]
			sum[t.Param+r*t.RowStride+col*t.ColStride] += simd.Sum(lane)
		}
	}
}

func (c *context) sumScatter(sum []float64, t *term, weighted []float64) {
	for i, k := range c.blocks(t.Index, t.Rows).blocks {
		if k < 0 {
			continue
		}
		at := t.Param + k*t.RowStride
		for j := i; j < len(weighted); j += c.n * t.Width {
			sum[at] += weighted[j]
			at += t.ColStride
		}
	}
}

// sumOuter is the product X·weightedᵀ over the records of the chunk and their
// places. The factor whose index is contiguous in sum is turned to be the right
// one.
func (c *context) sumOuter(sum []float64, t *term, weighted []float64) {
	x := c.block(t.X)
	c.clearZeros(x)
	k := t.Width * c.n
	p := simd.Product{K: k, C: sum[t.Param:], ARow: k, ACol: 1}
	switch {
	case min(t.Rows, t.Cols) >= narrow && t.ColStride == 1:
		p.M, p.N, p.LDC, p.A, p.B = t.Rows, t.Cols, t.RowStride, x, c.transpose(weighted, k)
	case min(t.Rows, t.Cols) >= narrow && t.RowStride == 1:
		p.M, p.N, p.LDC, p.A, p.B = t.Cols, t.Rows, t.ColStride, weighted, c.transpose(x, k)
	default:
		for r := range t.Rows {
			lane := x[r*k : (r+1)*k]
			for col := range t.Cols {
				sum[t.Param+r*t.RowStride+col*t.ColStride] += simd.Dot(lane, weighted[col*k:(col+1)*k])
			}
		}
		return
	}
	p.LDB = p.N
	p.Add()
}

// transpose returns lanes, k to an element, with the element last.
func (c *context) transpose(lanes []float64, k int) []float64 {
	to := c.transposed[:len(lanes)]
	kernel.Transpose(to, lanes, k)
	return to
}

// sumRows reads X in place. A record that counts as zero is not read.
func (c *context) sumRows(sum []float64, t *term, weighted []float64) {
	offset := c.p.tape.Buffers[t.X].Offset
	for col := range t.Cols {
		w, index := c.counted(weighted[col*c.n : (col+1)*c.n])
		at := t.Param + col*t.ColStride
		dst := sum[at:]
		if t.RowStride != 1 {
			dst = c.rowSum[:]
			clear(dst[:t.Rows])
		}
		if c.rows.F32 != nil {
			simd.RowSum32(dst[:t.Rows], w, c.rows.F32[offset:], c.rows.Stride, index)
		} else {
			simd.RowSum64(dst[:t.Rows], w, c.rows.F64[offset:], c.rows.Stride, index)
		}
		if t.RowStride != 1 {
			for _, x := range dst[:t.Rows] {
				sum[at] += x
				at += t.RowStride
			}
		}
	}
}

// counted leaves out the records that count as zero.
func (c *context) counted(w []float64) ([]float64, []uint32) {
	if c.zeros == 0 {
		return w, c.index
	}
	n := 0
	for b, f := range c.factor[:c.n] {
		if f != 0 {
			c.some[n], w[n] = c.index[b], w[b]
			n++
		}
	}
	return w[:n], c.some[:n]
}
