package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// The elements of a kept term are its gradient for one record. A thread writes those of all
// kept terms of a record, takes their norm, and adds them to the chunk's sum while they are
// in the cache. This costs hardly more than a sum without norms, in which the same products
// stand. So it can be cheaper than Gram matrices that have fewer multiplications.

// elementCost is what one element of one record costs beside its products, in
// multiplications of Gram matrices: it is cleared, written, squared and added.
const elementCost = 40

// keptUnit is the number of records whose factors are turned at once: half of a vector,
// which takes half of the memory.
const keptUnit = 4

// preferElements replaces Gram matrices where elements are cheaper. Terms that share a
// delta share its inner products.
func (p *program) preferElements() {
	type group struct {
		terms          []*term
		rows, elements int
		width, cols    int
		fits           bool
	}
	groups := map[graph.Buf]*group{}
	for i := range p.terms {
		t := &p.terms[i]
		if !t.wide() || !t.Gram || t.Kind != graph.TermOuter {
			continue
		}
		g := groups[t.Delta]
		if g == nil {
			g = &group{width: t.Width, cols: t.Cols, fits: true}
			groups[t.Delta] = g
		}
		g.terms = append(g.terms, t)
		g.rows += t.Rows
		g.elements += t.Rows * t.Cols
		g.fits = g.fits && t.keepable()
	}
	for _, g := range groups {
		if products := g.width * (g.width + 1) / 2 * (g.rows + g.cols); g.fits && elementCost*g.elements <= products {
			for _, t := range g.terms {
				t.Gram = false
			}
		}
	}
}

// keepable reports whether the elements of a term may serve norm and sum.
func (t *term) keepable() bool {
	return t.contiguous() && t.Rows*t.Cols <= (t.Rows+t.Cols)*t.Width
}

// turnedPart is a factor of kept terms, in the order in which their products take it.
type turnedPart struct {
	buf        graph.Buf
	width      int
	transposed bool
	at, size   int // place and numbers, of keptUnit records
}

// keep adds the memory of a kept term. Terms with one factor share its part.
func (p *program) keep(t *term) {
	t.at, t.kept = p.kept, true
	p.kept += t.Rows * t.Cols
	t.parts = [2]int{p.keptPart(t.X, t.Width, t.columnsFirst()), p.keptPart(t.Delta, t.Width, !t.columnsFirst())}
}

// keptPart is the index of a part among all.
func (p *program) keptPart(buf graph.Buf, width int, transposed bool) int {
	for i, k := range p.keptParts {
		if k.buf == buf && k.width == width && k.transposed == transposed {
			return i
		}
	}
	size := keptUnit * p.tape.Buffers[buf].Size
	p.keptParts = append(p.keptParts, turnedPart{buf, width, transposed, p.keptFactors, size})
	p.keptFactors += size
	return len(p.keptParts) - 1
}

// keepElements adds the squared norms of the kept terms, and computes every record's factor
// and the chunk's sum.
func (c *context) keepElements(clip privacy.Clip) (count float64) {
	clear(c.kept)
	norm2, factor := c.one(c.p.norm2), c.one(c.p.factor)
	for lane := 0; lane < c.n; lane += keptUnit {
		c.divideKept(lane)
		for b := lane; b < min(lane+keptUnit, c.n); b++ {
			clear(c.own)
			for i := range c.p.terms {
				if t := &c.p.terms[i]; t.kept {
					f := split{c.keptPart(t.parts[0]), c.keptPart(t.parts[1])}
					f.add(c.own[t.at:][:t.Rows*t.Cols], t, b-lane)
				}
			}
			norm2[b] += simd.Dot(c.own, c.own)
			count += c.factorsOf(clip, b, b+1)
			if f := factor[b]; f != 0 { // an element may be infinite, and 0·∞ is not 0
				simd.Axpy(c.kept, f, c.own)
			}
		}
	}
	return count
}

// divideKept sets the parts of the kept terms' factors, for the records from lane on.
func (c *context) divideKept(lane int) {
	for i, k := range c.p.keptParts {
		c.split(c.keptPart(i), c.block(k.buf)[lane:], keptUnit, k.width, k.transposed)
	}
}

func (c *context) keptPart(i int) []float64 {
	k := &c.p.keptParts[i]
	return c.rights[k.at:][:k.size]
}
