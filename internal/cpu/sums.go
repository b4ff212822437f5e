package cpu

import (
	"d3p/internal/cpu/kernel"
	"d3p/internal/models/graph"
)

// accumulate adds Σ_b f_b·g_b of the chunk to sum, length P.
func (c *context) accumulate(sum []float64) {
	for i := range c.p.terms {
		t := &c.p.terms[i]
		weighted := c.weigh(t)
		switch {
		case t.Kind == graph.TermDense:
			c.sumDense(sum, t, weighted)
		case t.Kind == graph.TermScatter:
			c.sumScatter(sum, t, weighted)
		case !t.xInRows:
			c.sumOuter(sum, t, weighted)
		case c.rows.F32 != nil:
			sumRows(c, sum, t, weighted, c.rows.F32)
		default:
			sumRows(c, sum, t, weighted, c.rows.F64)
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
		kernel.MulVV(weighted[lo:lo+c.n], delta[lo:lo+c.n], factor)
	}
	if c.zeros > 0 {
		for b, f := range factor {
			if f == 0 {
				for j := b; j < len(weighted); j += c.n {
					weighted[j] = 0
				}
			}
		}
	}
	return weighted
}

func (c *context) sumDense(sum []float64, t *term, weighted []float64) {
	for r := range t.Rows {
		for col := range t.Cols {
			lane := weighted[(r*t.Cols+col)*c.n:][:c.n]
			sum[t.Param+r*t.RowStride+col*t.ColStride] += kernel.Sum(lane)
		}
	}
}

func (c *context) sumScatter(sum []float64, t *term, weighted []float64) {
	for b, f := range c.factor[:c.n] {
		k := c.group(t, b)
		if f == 0 || k < 0 {
			continue
		}
		at := t.Param + k*t.RowStride
		for j := b; j < len(weighted); j += c.n {
			sum[at] += weighted[j]
			at += t.ColStride
		}
	}
}

// sumOuter is a matrix product over the lanes: element (r, c) gains the dot
// product of X's lane r and the weighted lane c.
func (c *context) sumOuter(sum []float64, t *term, weighted []float64) {
	x := c.block(t.X)
	if c.zeros > 0 { // 0 times a value that is not finite
		for b, f := range c.factor[:c.n] {
			if f == 0 {
				for j := b; j < len(x); j += c.n {
					x[j] = 0
				}
			}
		}
	}
	for r := range t.Rows {
		lane := x[r*c.n : (r+1)*c.n]
		for col := range t.Cols {
			sum[t.Param+r*t.RowStride+col*t.ColStride] += kernel.Dot(lane, weighted[col*c.n:(col+1)*c.n])
		}
	}
}

// sumRows reads X in place. A record that counts as zero is not read.
func sumRows[T kernel.Real](c *context, sum []float64, t *term, weighted []float64, rows []T) {
	offset := c.p.tape.Buffers[t.X].Offset
	for b, f := range c.factor[:c.n] {
		if f == 0 {
			continue
		}
		x := rows[c.row(b)*c.rows.Stride+offset:][:t.Rows]
		for col := range t.Cols {
			w := weighted[col*c.n+b]
			at := t.Param + col*t.ColStride
			if t.RowStride == 1 {
				kernel.RowAxpy(sum[at:at+t.Rows], w, x)
				continue
			}
			for _, v := range x {
				sum[at] += w * float64(v)
				at += t.RowStride
			}
		}
	}
}
