package cpu

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// A program computes squared norms from the structure of the terms alone, and leaves them
// in the element norm2. A norm is not finite if the gradient is not.

// underflow is added to a sum of squares before its multiplication. The sum loses numbers
// below the smallest float64, which a huge factor could make large beside C. With underflow
// the product is at least the true one.
const underflow = 0x1p-1000

// squares adds the squared norm of a term to norm2, unless the term is wide. It adds the
// norm's bound to size if the norm needs an allowance for rounding, unless addGram does so.
func (a *assembler) squares(t *term) {
	p := a.p
	norm2, part, count := lanes(p.norm2), lanes(p.part), p.tape.Buffers[t.Delta].Size
	delta := lanes(p.place[t.Delta])
	switch {
	case t.wide() && t.Kind == graph.TermOuter:
		if !t.Gram {
			a.placeSquares(t)
		}
		return
	case t.Kind == graph.TermOuter:
		x2 := p.other
		a.sumOfSquares(p.part, p.place[t.Delta], count)
		if t.XNorm2 != graph.NoBuf {
			x2 = p.place[t.XNorm2]
		} else {
			a.sumOfSquares(x2, p.place[t.X], p.tape.Buffers[t.X].Size)
		}
		a.emit(simd.Instruction{Op: simd.OpAddProduct, Count: 1, To: norm2, A: part, B: lanes(x2)})
		if p.loose {
			a.emit(simd.Instruction{Op: simd.OpAddProduct, Count: 1, To: lanes(p.size), A: part, B: lanes(x2)})
		}
		return
	case !t.wide():
		a.emit(simd.Instruction{Op: simd.OpSquares, Count: count, To: norm2, A: delta})
	}
	if p.loose {
		a.sumOfSquares(p.part, p.place[t.Delta], count)
		a.addSize(t)
	}
	if t.Kind == graph.TermScatter {
		if block := a.block(t.Index, t.Rows); !t.wide() {
			a.emit(simd.Instruction{Op: simd.OpSpoil, Count: 1, To: norm2, A: lanes(block)})
		}
	}
}

// addSize adds part, a part of a term, to size.
func (a *assembler) addSize(t *term) {
	a.emit(simd.Instruction{Op: simd.OpAxpy, Count: 1, To: lanes(a.p.size), A: lanes(a.p.part), B: a.p.constant(float64(t.Width)).place()})
}

// placeSquares adds Σ_w |X_w|²|Delta_w|² of a wide outer term to size.
func (a *assembler) placeSquares(t *term) {
	p := a.p
	x2, delta2 := p.newElements(t.Width), p.newElements(t.Width)
	for _, f := range []struct{ to, of, rows int }{{x2, p.place[t.X], t.Rows}, {delta2, p.place[t.Delta], t.Cols}} {
		a.emit(simd.Instruction{Op: simd.OpFill, Count: t.Width, To: lanes(f.to), A: p.constant(underflow).place()})
		for r := range f.rows {
			row := lanes(f.of + r*t.Width)
			a.emit(simd.Instruction{Op: simd.OpAddProduct, Count: t.Width, To: lanes(f.to), A: row, B: row})
		}
	}
	a.emit(simd.Instruction{Op: simd.OpFill, Count: 1, To: lanes(p.part), A: p.constant(0).place()})
	for w := range t.Width {
		a.emit(simd.Instruction{Op: simd.OpAddProduct, Count: 1, To: lanes(p.part), A: lanes(x2 + w), B: lanes(delta2 + w)})
	}
	a.addSize(t)
}

// sumOfSquares sets element `to` to the sum of squares of some elements.
func (a *assembler) sumOfSquares(to, of, count int) {
	a.emit(simd.Instruction{Op: simd.OpFill, Count: 1, To: lanes(to), A: a.p.constant(underflow).place()})
	a.emit(simd.Instruction{Op: simd.OpSquares, Count: count, To: lanes(to), A: lanes(of)})
}

// addWide adds the squared norms of wide terms to norm2.
func (c *context) addWide() {
	norm2, size := c.one(c.p.norm2), c.one(c.p.size)
	for i := range c.p.terms {
		switch t := &c.p.terms[i]; {
		case !t.wide():
		case t.Kind == graph.TermOuter:
			c.addWideSquares(norm2, size, t)
		default:
			c.addScatterSquares(norm2, t)
		}
	}
}

// cross adds the inner products of terms that share parameters to norm2.
func (c *context) cross() {
	norm2 := c.one(c.p.norm2)
	for _, pair := range c.p.tape.Cross {
		c.addInner(norm2, &c.p.terms[pair.I], &c.p.terms[pair.J], pair.Gram)
	}
}

// allow adds the allowance for rounding to the squared norms of records low <= b < high,
// see privacy.NormSlack.
func (c *context) allow(low, high int) {
	if !c.p.loose {
		return
	}
	norm2, size := c.one(c.p.norm2)[low:high], c.one(c.p.size)[low:high]
	for b, s := range norm2 {
		slack := c.p.slack * size[b]
		switch {
		case s < -slack: // larger than rounding: the record counts as zero
			s = math.NaN()
		case s < 0:
			s = 0
		}
		norm2[b] = s + slack
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
		for j := b; j < len(ds); j += c.pitch {
			inner += ds[j] * dt[j]
		}
		x := 0.0
		for r := range s.Rows {
			x += c.x(s, r, b) * c.x(t, r, b)
		}
		dst[b] += 2 * inner * x
	}
}

// x is element r of the X of an outer term, for the chunk's b-th record.
func (c *context) x(t *term, r, b int) float64 {
	if !t.xInRows {
		return c.block(t.X)[r*c.pitch+b]
	}
	at := int(c.index[b])*c.rows.Stride + c.p.tape.Buffers[t.X].Offset + r
	if c.rows.F32 != nil {
		return float64(c.rows.F32[at])
	}
	return c.rows.F64[at]
}
