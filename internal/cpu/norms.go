package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// pairSlack covers the rounding of inner products between terms that share
// parameters: where they cancel, the computed square could fall short of the
// true one by a few ulp of the terms' own squares, and the clipped gradient
// would exceed C. Adding this much of them errs to the safe side.
const pairSlack = 0x1p-48

// norms sets norm2 to |g_b|² for the chunk's records, from the structure of the
// terms alone. It is not finite where a gradient is not.
func (c *context) norms() {
	norm2 := c.norm2[:c.n]
	clear(norm2)
	for i := range c.p.terms {
		c.addSquares(norm2, &c.p.terms[i])
	}
	if len(c.p.tape.Cross) == 0 {
		return
	}
	for b, s := range norm2 {
		norm2[b] = s + pairSlack*s*float64(len(c.p.terms))
	}
	for _, pair := range c.p.tape.Cross {
		c.addInner(norm2, &c.p.terms[pair.I], &c.p.terms[pair.J], pair.Gram)
	}
	for b, s := range norm2 {
		if s < 0 {
			norm2[b] = 0
		}
	}
}

// addSquares adds the squared norm of one term to dst.
func (c *context) addSquares(dst []float64, t *term) {
	delta := c.block(t.Delta)
	switch {
	case t.wide() && t.Kind == graph.TermOuter:
		c.addWideSquares(dst, t)
		return
	case t.wide():
		c.addScatterSquares(dst, t)
		return
	}
	if t.Kind != graph.TermOuter {
		c.addSquareLanes(dst, delta)
		if t.Kind == graph.TermScatter {
			c.spoil(dst, c.blocks(t.Index, t.Rows))
		}
		return
	}
	delta2 := c.delta2[:c.n]
	clear(delta2)
	c.addSquareLanes(delta2, delta)
	x2 := c.factor[:c.n] // not in use yet
	switch {
	case t.XNorm2 != graph.NoBuf:
		x2 = c.block(t.XNorm2)
	case !t.xInRows:
		clear(x2)
		c.addSquareLanes(x2, c.block(t.X))
	default:
		for b := range x2 {
			x2[b] = 0
			for r := range t.Rows {
				x := c.x(t, r, b)
				x2[b] += x * x
			}
		}
	}
	simd.AddProduct(dst, delta2, x2)
}

// addSquareLanes adds the squares of all lanes to dst.
func (c *context) addSquareLanes(dst, lanes []float64) {
	for lo := 0; lo < len(lanes); lo += c.n {
		simd.AddProduct(dst, lanes[lo:lo+c.n], lanes[lo:lo+c.n])
	}
}

// addInner adds twice the inner product of two terms that share parameters.
func (c *context) addInner(dst []float64, s, t *term, gram bool) {
	if s.Kind == graph.TermScatter && t.Kind == graph.TermOuter {
		s, t = t, s
	}
	switch wide := s.wide() || t.wide(); {
	case t.Kind == graph.TermScatter:
		c.addScatterInner(dst, s, t)
		return
	case wide:
		c.addWideInner(dst, s, t, gram)
		return
	}
	ds, dt := c.block(s.Delta), c.block(t.Delta)
	for b := range dst {
		inner := 0.0
		for j := b; j < len(ds); j += c.n {
			inner += ds[j] * dt[j]
		}
		x := 0.0
		for r := range s.Rows {
			x += c.x(s, r, b) * c.x(t, r, b)
		}
		dst[b] += 2 * inner * x
	}
}

// x is element r of an outer term's X for the chunk's b-th record.
func (c *context) x(t *term, r, b int) float64 {
	if !t.xInRows {
		return c.block(t.X)[r*c.n+b]
	}
	at := int(c.index[b])*c.rows.Stride + c.p.tape.Buffers[t.X].Offset + r
	if c.rows.F32 != nil {
		return float64(c.rows.F32[at])
	}
	return c.rows.F64[at]
}
