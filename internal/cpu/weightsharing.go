package cpu

import (
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// A term shares its weights when several places of a record have the same parameters, as
// the positions of an image have the same filter. Then its factors for one record are
// matrices, and its norm comes from their Gram matrices or from the elements of the
// gradient: Term.Gram chooses the cheaper form. The sum uses the elements again if they
// take no more memory than the factors.

// wide reports whether a term is a sum over places.
func (t *term) wide() bool { return t.Width > 1 }

// split holds the factors of an outer term, record by record.
type split struct{ x, delta []float64 }

// gramBlock is the number of rows of two Gram matrices that are made at a time.
const gramBlock = 32

// wideScratch is a thread's memory for wide terms.
type wideScratch struct {
	kept    []float64    // elements of the chunk's records
	written [2][]float64 // elements of one record
	grams   [2][]float64
	other   split // of the second term of a pair
	order   []int
	row     []float64
}

// planWide adds the memory of a wide term and decides whether its elements are kept.
func (p *program) planWide(t *term) {
	p.widest = max(p.widest, t.Width)
	if t.Kind == graph.TermScatter {
		p.longestRow = max(p.longestRow, t.Cols)
		return
	}
	p.divided = max(p.divided, t.Cols*t.Width, t.Rows*t.Width)
	elements := t.Rows * t.Cols
	if p.work += elements * t.Width / productLanes; t.Gram {
		return
	}
	p.elements = max(p.elements, elements)
	if t.kept = t.contiguous() && elements <= (t.Rows+t.Cols)*t.Width; t.kept {
		t.at = p.kept
		p.kept += elements
	}
}

// planPairs adds the memory of the inner products of wide terms.
func (p *program) planPairs() {
	for _, pair := range p.tape.Cross {
		if s, t := &p.terms[pair.I], &p.terms[pair.J]; s.Kind == graph.TermOuter && t.Kind == graph.TermOuter && (s.wide() || t.wide()) {
			p.widePairs = true
			p.elements = max(p.elements, s.Rows*s.Cols)
			p.divided = max(p.divided, s.Rows*max(s.Width, t.Width), s.Cols*max(s.Width, t.Width))
		}
	}
}

func (p *program) wideScratch() wideScratch {
	s := wideScratch{
		kept:  make([]float64, p.kept*p.chunk),
		order: make([]int, p.widest), row: make([]float64, p.longestRow),
	}
	for i := range 2 {
		s.written[i] = make([]float64, p.elements)
		s.grams[i] = make([]float64, gramBlock*p.widest)
	}
	if p.widePairs {
		s.other = split{make([]float64, p.divided*p.chunk), make([]float64, p.divided*p.chunk)}
	}
	return s
}

// contiguous reports whether the term's parameters are one range of θ.
func (t *term) contiguous() bool {
	return t.ColStride == 1 && t.RowStride == t.Cols || t.RowStride == 1 && t.ColStride == t.Rows
}

// columnsFirst reports whether elements are ordered by column, then row.
func (t *term) columnsFirst() bool { return t.RowStride == 1 && t.Rows > 1 }

// addWideSquares adds the squared norm of a wide outer term to dst.
func (c *context) addWideSquares(dst []float64, t *term) {
	f := split{c.rights, c.in[inWeighted]}
	c.divide(&f, t, t.Gram)
	for b := range dst {
		if t.Gram {
			dst[b] += c.gram(t, f.x[b*t.Rows*t.Width:], f.delta[b*t.Cols*t.Width:])
			continue
		}
		e := c.written[0][:t.Rows*t.Cols]
		if t.kept {
			e = c.keptOf(t)[b*len(e):][:len(e)]
		}
		f.product(e, t, b)
		dst[b] += simd.Dot(e, e)
	}
}

// keptOf are the kept elements of a term, record after record.
func (c *context) keptOf(t *term) []float64 {
	return c.kept[t.at*c.n : (t.at+t.Rows*t.Cols)*c.n]
}

// divide fills f with the factors of a term. For Gram matrices both factors have a
// row of places for each of their elements; for the elements of the gradient, the
// right factor of the product has a row for each place.
func (c *context) divide(f *split, t *term, gram bool) {
	x, delta := c.block(t.X), c.block(t.Delta)
	f.x, f.delta = f.x[:len(x)], f.delta[:len(delta)]
	c.split(f.x, x, t.Width, !gram && t.columnsFirst())
	c.split(f.delta, delta, t.Width, !gram && !t.columnsFirst())
}

// split sets dst to the matrices of all records, with width columns to a row of x,
// or to their transposes.
func (c *context) split(dst, x []float64, width int, transposed bool) {
	rows, ones := len(x)/c.pitch, c.p.ones[:c.pitch]
	if !transposed {
		simd.ScaledTranspose(dst, rows, x, c.pitch, rows, ones)
		return
	}
	rows /= width
	for w := range width {
		simd.ScaledTranspose(dst[w*rows:], width*rows, x[w*c.pitch:], width*c.pitch, rows, ones)
	}
}

// product sets e to the elements of record b's gradient.
func (f *split) product(e []float64, t *term, b int) {
	x, delta := f.x[b*t.Rows*t.Width:], f.delta[b*t.Cols*t.Width:]
	p := simd.Product{M: t.Rows, N: t.Cols, A: x, B: delta}
	if t.columnsFirst() {
		p.M, p.N, p.A, p.B = t.Cols, t.Rows, delta, x
	}
	p.K, p.ARow, p.ACol = t.Width, t.Width, 1
	p.C, p.LDC, p.LDB = e, p.N, p.N
	clear(e)
	p.Add()
}

// gram is Σ_w,v (x_w·x_v)(δ_w·δ_v) for columns w and v of x and δ. It makes a block
// of rows of the two symmetric matrices at a time.
func (c *context) gram(t *term, x, delta []float64) float64 {
	sum := 0.0
	for w := 0; w < t.Width; w += gramBlock {
		m, n := min(gramBlock, t.Width-w), t.Width-w
		xx, dd := c.grams[0][:m*n], c.grams[1][:m*n]
		columnProducts(xx, x[w:], x[w:], t.Rows, m, n, t.Width, t.Width)
		columnProducts(dd, delta[w:], delta[w:], t.Cols, m, n, t.Width, t.Width)
		simd.Mul(xx, xx, dd)
		for i := range m {
			row := xx[i*n : (i+1)*n]
			inside, right := simd.Sum(row[:m]), simd.Sum(row[m:])
			sum += inside + 2*right
		}
	}
	return sum
}

// columnProducts sets dst, m × n, to the products of the first m columns of a
// with the first n columns of b, over their k rows.
func columnProducts(dst, a, b []float64, k, m, n, aRow, bRow int) {
	clear(dst)
	simd.Product{M: m, N: n, K: k, C: dst, LDC: n, A: a, ARow: 1, ACol: aRow, B: b, LDB: bRow}.Add()
}

// addWideInner adds twice the inner product of two outer terms, one of them wide.
func (c *context) addWideInner(dst []float64, s, t *term, gram bool) {
	f, g := split{c.rights, c.in[inWeighted]}, c.other
	c.divide(&f, s, gram)
	c.divide(&g, t, gram)
	for b := range dst {
		if gram {
			dst[b] += 2 * c.crossGram(s, t, &f, &g, b)
			continue
		}
		d, e := c.written[0][:s.Rows*s.Cols], c.written[1][:s.Rows*s.Cols]
		f.product(d, s, b)
		g.product(e, t, b)
		dst[b] += 2 * simd.Dot(d, e)
	}
}

// crossGram is Σ_w,v (x_w·x′_v)(δ_w·δ′_v) for record b.
func (c *context) crossGram(s, t *term, f, g *split, b int) float64 {
	x, delta := f.x[b*s.Rows*s.Width:], f.delta[b*s.Cols*s.Width:]
	sum := 0.0
	for w := 0; w < s.Width; w += gramBlock {
		m := min(gramBlock, s.Width-w)
		xx, dd := c.grams[0][:m*t.Width], c.grams[1][:m*t.Width]
		columnProducts(xx, x[w:], g.x[b*t.Rows*t.Width:], s.Rows, m, t.Width, s.Width, t.Width)
		columnProducts(dd, delta[w:], g.delta[b*t.Cols*t.Width:], s.Cols, m, t.Width, s.Width, t.Width)
		sum += simd.Dot(xx, dd)
	}
	return sum
}

// addScatterSquares adds the squared norm of a wide scatter to dst. Places of a
// record that pick the same row are added up first.
func (c *context) addScatterSquares(dst []float64, t *term) {
	delta, rows := c.block(t.Delta), c.picked(t.Index, t.Rows)
	order, row := c.order[:t.Width], c.row[:t.Cols]
	for b := range dst {
		for w := range order {
			order[w] = (int(rows[w*c.pitch+b])+1)*t.Width + w // sorts by row, then place
		}
		slices.Sort(order)
		for i := 0; i < len(order); {
			clear(row)
			k := order[i] / t.Width
			for ; i < len(order) && order[i]/t.Width == k; i++ {
				for col := range row {
					row[col] += delta[(col*t.Width+order[i]-k*t.Width)*c.pitch+b]
				}
			}
			dst[b] += simd.Dot(row, row)
		}
	}
	for i, k := range rows {
		if b := i % c.pitch; k < 0 && b < c.n {
			dst[b] = math.NaN()
		}
	}
}

// addScatterInner adds twice the inner product of two terms; the second one is a
// scatter.
func (c *context) addScatterInner(dst []float64, s, t *term) {
	ds, dt := c.block(s.Delta), c.block(t.Delta)
	rows := c.picked(t.Index, t.Rows)
	var other []float64
	if s.Kind == graph.TermScatter {
		other = c.picked(s.Index, s.Rows)
	}
	for b := range dst {
		sum := 0.0
		for v := range t.Width {
			k := rows[v*c.pitch+b]
			if k < 0 {
				continue // addScatterSquares made the norm NaN
			}
			for w := range s.Width {
				f := 0.0
				switch {
				case s.Kind == graph.TermOuter:
					f = c.x(s, int(k)*s.Width+w, b)
				case other[w*c.pitch+b] == k:
					f = 1
				default:
					continue
				}
				inner := 0.0
				for col := range s.Cols {
					inner += ds[(col*s.Width+w)*c.pitch+b] * dt[(col*t.Width+v)*c.pitch+b]
				}
				sum += f * inner
			}
		}
		dst[b] += 2 * sum
	}
}

// sumKept adds the elements of an outer term that its norm has kept.
func (c *context) sumKept(sum []float64, t *term) {
	kept, size := c.keptOf(t), t.Rows*t.Cols
	for b, f := range c.one(c.p.factor) {
		if f != 0 { // an element may be infinite, and 0·∞ is not 0
			simd.Axpy(sum[t.Param:t.Param+size], f, kept[b*size:(b+1)*size])
		}
	}
}
