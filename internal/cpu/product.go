package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// The sum of an outer term over a chunk is a matrix product. The factor whose index is
// contiguous in the sum is the right one; it is transposed once.

// outerProduct reports whether one matrix product sums the term.
func (t *term) outerProduct() bool {
	return t.Kind == graph.TermOuter && !t.xInRows && !t.summed && !t.kept && (t.ColStride == 1 || t.RowStride == 1)
}

// turns reports whether the sum of a term takes a factor record by record: for a product,
// or for long rows that an index picks.
func (t *term) turns() bool {
	return t.outerProduct() || t.Kind == graph.TermScatter && !t.summed && t.rowsTurn()
}

// rowsTurn reports whether picked rows are long enough to be copied out of their lanes.
func (t *term) rowsTurn() bool { return t.ColStride == 1 && t.Cols >= 8 }

// productRows are the rows of that product.
func (t *term) productRows() int {
	if t.ColStride == 1 {
		return t.Rows
	}
	return t.Cols
}

// placeTurned reserves memory for the right factor of a product, or for picked rows. If
// threads share the sum, every term has its own memory, so that one thread fills it once.
func (p *program) placeTurned(t *term) {
	_, size, _ := t.right(p.tape)
	if p.tape.P > largeP {
		t.turned = p.turned
		p.turned += size
	} else {
		p.turned = max(p.turned, size)
	}
}

// right is the factor of a term whose index is contiguous in the sum, with the factor's
// size and the size of one of its places.
func (t *term) right(tape *graph.Tape) (buf graph.Buf, size, count int) {
	if t.ColStride == 1 {
		return t.Delta, tape.Buffers[t.Delta].Size, t.Cols
	}
	return t.X, tape.Buffers[t.X].Size, t.Rows
}

// turn writes the right factor of a term's product, or picked rows: one row per record and
// place, scaled by the record's clipping factor.
func (c *context) turn(t *term) {
	if !t.turns() {
		return
	}
	buf, size, count := t.right(c.p.tape)
	lanes, to, factor := c.block(buf), c.rights[t.turned*c.pitch:][:size*c.pitch], c.lanesAt(c.p.factor, 1)
	for w := range t.Width {
		simd.ScaledTranspose(to[w*c.pitch*count:], count, lanes[w*c.pitch:], t.Width*c.pitch, count, factor)
	}
}

// sumProduct adds rows of a product over the records of the chunk and their places. Lanes
// without a record have factor 0.
func (c *context) sumProduct(sum []float64, t *term, low, high int) {
	k := t.Width * c.pitch
	_, _, count := t.right(c.p.tape)
	p := simd.Product{M: high - low, N: count, K: k, ARow: k, ACol: 1, B: c.rights[t.turned*c.pitch:], LDB: count}
	left := t.Delta
	if p.LDC = t.ColStride; t.ColStride == 1 {
		left, p.LDC = t.X, t.RowStride
	}
	p.A, p.C = c.block(left)[low*k:], sum[t.Param+low*p.LDC:]
	p.Add()
}

// sumDots is sumProduct for a term without an index that is contiguous in sum.
func (c *context) sumDots(sum []float64, t *term) {
	k := t.Width * c.pitch
	x, weighted := c.block(t.X), c.in[inWeighted][t.weighted*c.pitch:]
	for r := range t.Rows {
		for col := range t.Cols {
			sum[t.Param+r*t.RowStride+col*t.ColStride] += simd.Dot(x[r*k:(r+1)*k], weighted[col*k:(col+1)*k])
		}
	}
}

// rights are the numbers of a thread's right factors: of a chunk, or of eight records for
// norms, which are computed before.
func (p *program) rights() int { return max(p.turned*p.chunk, p.keptFactors, p.panels) }
