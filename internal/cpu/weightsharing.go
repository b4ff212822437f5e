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

// split holds the factors of an outer term: record by record, or in lanes.
type split struct{ x, delta []float64 }

// wideScratch is a thread's memory for wide terms.
type wideScratch struct {
	kept    []float64    // elements of the chunk's records
	written [2][]float64 // elements of one record
	gram    gramScratch
	other   split // of the second term of a pair
	order   []int
	row     []float64
}

// gramScratch is a thread's memory for Gram matrices, in eight lanes.
type gramScratch struct {
	tiles      [2][8 * 4 * 4]float64 // of the two matrices
	row, total [8]float64
}

// planWide adds the memory of a wide term and decides whether its elements are kept.
func (p *program) planWide(t *term) {
	p.widest = max(p.widest, t.Width)
	if t.Kind == graph.TermScatter {
		p.longestRow = max(p.longestRow, t.Cols)
		if t.rowsTurn() {
			p.divided = max(p.divided, t.Cols*t.Width)
		}
		return
	}
	elements := t.Rows * t.Cols
	if p.work += elements * t.Width / productLanes; t.Gram {
		return
	}
	p.divided = max(p.divided, t.Cols*t.Width, t.Rows*t.Width)
	p.elements = max(p.elements, elements)
	if t.kept = t.contiguous() && elements <= (t.Rows+t.Cols)*t.Width; t.kept {
		t.at = p.kept
		p.kept += elements
	}
}

// planPairs adds the memory of the inner products of wide terms.
func (p *program) planPairs() {
	for _, pair := range p.tape.Cross {
		if s, t := &p.terms[pair.I], &p.terms[pair.J]; !pair.Gram && s.Kind == graph.TermOuter && t.Kind == graph.TermOuter && (s.wide() || t.wide()) {
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
	if t.Gram {
		c.addGram(dst, t, t, 1)
		return
	}
	f := split{c.rights, c.in[inWeighted]}
	c.divide(&f, t)
	for b := range dst {
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

// divide fills f with the factors of a term. The right factor of the product has a row
// for each place.
func (c *context) divide(f *split, t *term) {
	x, delta := c.block(t.X), c.block(t.Delta)
	f.x, f.delta = f.x[:len(x)], f.delta[:len(delta)]
	c.split(f.x, x, t.Width, t.columnsFirst())
	c.split(f.delta, delta, t.Width, !t.columnsFirst())
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

// addGram adds times·Σ_w,v (x_w·x′_v)(δ_w·δ′_v) to dst, for columns w and v of the factors
// of two terms with as many rows and columns.
func (c *context) addGram(dst []float64, s, t *term, times float64) {
	f, g := split{c.block(s.X), c.block(s.Delta)}, split{c.block(t.X), c.block(t.Delta)}
	c.gram.add(dst, c.pitch, s, t, f, g, times)
}

// add is addGram for factors in lanes, pitch of them. Of a term with itself it makes half
// of the matrices.
func (m *gramScratch) add(dst []float64, pitch int, s, t *term, f, g split, times float64) {
	side := 4
	if min(s.Width, t.Width) < side {
		side = 1
	}
	xx, dd, row, total := m.tiles[0][:8*side*side], m.tiles[1][:8*side*side], m.row[:], m.total[:]
	for lane := 0; lane < len(dst); lane += 8 {
		clear(total)
		for i := 0; i < s.Width; i += side {
			w, first := min(i, s.Width-side), 0
			if s == t {
				first = i
			}
			clear(row)
			for j := first; j < t.Width; j += side {
				v := min(j, t.Width-side)
				from, to := w*pitch+lane, v*pitch+lane
				simd.LaneProducts(xx, f.x[from:], g.x[to:], side, pitch, s.Width*pitch, t.Width*pitch, s.Rows)
				simd.LaneProducts(dd, f.delta[from:], g.delta[to:], side, pitch, s.Width*pitch, t.Width*pitch, s.Cols)
				simd.Mul(xx, xx, dd)
				addTile(row, xx, side, i-w, j-v, s == t, s == t && i == j)
			}
			simd.Add(total, total, row)
		}
		for b := range dst[lane:min(lane+8, len(dst))] {
			dst[lane+b] += times * total[b]
		}
	}
}

// addTile adds the products of pairs of places to row, those of a symmetric matrix twice
// unless they are on its diagonal. The first i rows and j columns of a tile stand in
// another one; a tile across the diagonal has the lower half of its pairs twice.
func addTile(row, tile []float64, side, i, j int, symmetric, across bool) {
	twice := 1.0
	if symmetric {
		twice = 2
	}
	if i == 0 && j == 0 && !across {
		for n := len(tile) / 2; n >= 8; n /= 2 {
			simd.Add(tile[:n], tile[:n], tile[n:2*n])
		}
		simd.Axpy(row, twice, tile[:8])
		return
	}
	for ; i < side; i++ {
		from := j
		if across {
			from = i
		}
		for k := from; k < side; k++ {
			times := twice
			if across && k == i {
				times = 1
			}
			simd.Axpy(row, times, tile[8*(side*i+k):][:8])
		}
	}
}

// addWideInner adds twice the inner product of two outer terms, one of them wide.
func (c *context) addWideInner(dst []float64, s, t *term, gram bool) {
	if gram {
		c.addGram(dst, s, t, 2)
		return
	}
	f, g := split{c.rights, c.in[inWeighted]}, c.other
	c.divide(&f, s)
	c.divide(&g, t)
	for b := range dst {
		d, e := c.written[0][:s.Rows*s.Cols], c.written[1][:s.Rows*s.Cols]
		f.product(d, s, b)
		g.product(e, t, b)
		dst[b] += 2 * simd.Dot(d, e)
	}
}

// addScatterSquares adds the squared norm of a wide scatter to dst. Places of a
// record that pick the same row are added up first.
func (c *context) addScatterSquares(dst []float64, t *term) {
	delta, rows := c.block(t.Delta), c.picked(t.Index, t.Rows)
	order, row := c.order[:t.Width], c.row[:t.Cols]
	turned := c.in[inWeighted][:0]
	if t.rowsTurn() {
		turned = c.in[inWeighted][:len(delta)]
		c.split(turned, delta, t.Width, true)
	}
	for b := range dst {
		for w := range order {
			order[w] = (int(rows[w*c.pitch+b])+1)*t.Width + w // sorts by row, then place
		}
		slices.Sort(order)
		for i := 0; i < len(order); {
			clear(row)
			k := order[i] / t.Width
			for ; i < len(order) && order[i]/t.Width == k; i++ {
				w := order[i] - k*t.Width
				if t.rowsTurn() {
					simd.Add(row, row, turned[(b*t.Width+w)*t.Cols:])
					continue
				}
				for col := range row {
					row[col] += delta[(col*t.Width+w)*c.pitch+b]
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
