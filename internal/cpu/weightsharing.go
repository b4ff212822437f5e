package cpu

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// A term shares its weights if several places of a record have the same parameters, as the
// positions of an image have the same filter. Its factors for one record are matrices, and
// its norm comes from their Gram matrices or from the elements of the gradient: Term.Gram
// chooses the cheaper form. The sum reuses the elements if they take no more memory than
// the factors: see elements.go.

// wide reports whether a term is a sum over places.
func (t *term) wide() bool { return t.Width > 1 }

// split holds the factors of an outer term: record by record, or in lanes.
type split struct{ x, delta []float64 }

// wideScratch is a thread's memory for wide terms.
type wideScratch struct {
	kept    []float64    // sums of the chunk's clipped elements
	own     []float64    // elements of one record, of all kept terms
	written [2][]float64 // elements of one record, of one term
	gram    *gramScratch // nil without Gram matrices
	other   split        // of the second term of a pair
	// for scatters: the places of a record that pick distinct rows; for each row 1 + the
	// first place that picks it; and the numbers of a record
	distinct, firstPlace []int
	ofRecord             []float64
}

// Gram matrices consist of tiles: the inner products of tileSide places with tileSide
// others, in eight lanes; of single places if a term has fewer. gramTiles tiles (8 KiB) are
// computed at once, over gramDepth elements (16 KiB of a tile's places).
const (
	tileSide             = 4
	gramTiles, gramDepth = 8, 32
)

// gramScratch is a thread's memory for Gram matrices, in eight lanes.
type gramScratch struct {
	tiles      [2][gramTiles * 8 * tileSide * tileSide]float64
	whole      [8 * tileSide * tileSide]float64 // sum of the products of a row's tiles
	row, total [8]float64
	size       [8]float64 // Σ_w |X_w|²|Delta_w|²
}

// planWide adds the memory of a wide term, and decides whether to keep its elements.
func (p *program) planWide(t *term) {
	p.widest = max(p.widest, t.Width)
	if t.Kind == graph.TermScatter {
		p.mostRows = max(p.mostRows, t.Rows)
		if t.rowsTurn() {
			p.scattered = max(p.scattered, t.Cols*t.Width)
		} else {
			p.picked = max(p.picked, t.Cols*t.Width)
		}
		return
	}
	elements := t.Rows * t.Cols
	if p.work += elements * t.Width / productLanes; t.Gram {
		return
	}
	if t.keepable() {
		p.keep(t)
		return
	}
	p.divided = max(p.divided, t.Cols*t.Width, t.Rows*t.Width)
	p.elements = max(p.elements, elements)
}

// planGram finds the terms that share a delta, and adds the memory of Gram matrices.
func (p *program) planGram() {
	first := map[graph.Buf]*term{}
	for i := range p.terms {
		t := &p.terms[i]
		if t.alone = []*term{t}; !t.wide() || !t.Gram {
			continue
		}
		if s := first[t.Delta]; s != nil {
			s.together = append(s.together, t)
		} else {
			first[t.Delta], t.together = t, []*term{t}
		}
	}
	for _, t := range first {
		p.panels = max(p.panels, panelNumbers(t.together))
	}
}

// planPairs adds the memory of the inner products of wide terms.
func (p *program) planPairs() {
	for _, pair := range p.tape.Cross {
		s, t := &p.terms[pair.I], &p.terms[pair.J]
		switch outer := s.Kind == graph.TermOuter && t.Kind == graph.TermOuter; {
		case outer && pair.Gram:
			p.panels = max(p.panels, panelNumbers(s.alone)+panelNumbers(t.alone))
		case outer && (s.wide() || t.wide()):
			p.widePairs = true
			p.elements = max(p.elements, s.Rows*s.Cols)
			p.divided = max(p.divided, s.Rows*max(s.Width, t.Width), s.Cols*max(s.Width, t.Width))
		}
	}
}

func (p *program) wideScratch() wideScratch {
	s := wideScratch{
		kept: make([]float64, p.kept), own: make([]float64, p.kept),
		distinct: make([]int, 0, p.widest), firstPlace: make([]int, p.mostRows), ofRecord: make([]float64, p.picked),
	}
	if p.panels > 0 {
		s.gram = &gramScratch{}
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

// addWideSquares adds the squared norm of a wide outer term to dst, and the size of a term
// with Gram matrices to size.
func (c *context) addWideSquares(dst, size []float64, t *term) {
	if t.Gram {
		if t.together != nil {
			c.addGram(dst, size, t.together, t.together, 1)
		}
		return
	}
	if t.kept {
		return
	}
	f := split{c.rights, c.in[inWeighted]}
	c.divide(&f, t)
	for b := range dst {
		e := c.written[0][:t.Rows*t.Cols]
		clear(e)
		f.add(e, t, b)
		dst[b] += simd.Dot(e, e)
	}
}

// divide fills f with the factors of a term. The product's right factor has a row for each
// place.
func (c *context) divide(f *split, t *term) {
	x, delta := c.block(t.X), c.block(t.Delta)
	f.x, f.delta = f.x[:len(x)], f.delta[:len(delta)]
	c.split(f.x, x, c.pitch, t.Width, t.columnsFirst())
	c.split(f.delta, delta, c.pitch, t.Width, !t.columnsFirst())
}

// split sets dst to the matrices of the first records of x, with width columns per row of
// x, or to their transposes.
func (c *context) split(dst, x []float64, records, width int, transposed bool) {
	rows, ones := len(dst)/records, c.p.ones[:records]
	if !transposed {
		simd.ScaledTranspose(dst, rows, x, c.pitch, rows, ones)
		return
	}
	rows /= width
	for w := range width {
		simd.ScaledTranspose(dst[w*rows:], width*rows, x[w*c.pitch:], width*c.pitch, rows, ones)
	}
}

// add adds the elements of record b's gradient to e.
func (f *split) add(e []float64, t *term, b int) {
	x, delta := f.x[b*t.Rows*t.Width:], f.delta[b*t.Cols*t.Width:]
	p := simd.Product{M: t.Rows, N: t.Cols, A: x, B: delta}
	if t.columnsFirst() {
		p.M, p.N, p.A, p.B = t.Cols, t.Rows, delta, x
	}
	p.K, p.ARow, p.ACol = t.Width, t.Width, 1
	p.C, p.LDC, p.LDB = e, p.N, p.N
	p.Add()
}

// addGram adds times·Σ_w,v (x_w·x′_v)(δ_w·δ′_v) to dst, for columns w and v of the factors
// of terms with equal numbers of rows and columns. The terms of s share one δ, those of t
// another. For the products of terms with themselves it adds their Width·Σ_w |x_w|²|δ_w|²
// to size.
func (c *context) addGram(dst, size []float64, s, t []*term, times float64) {
	side, same := tileSide, s[0] == t[0]
	if min(s[0].Width, t[0].Width) < side {
		side = 1
	}
	for lane := 0; lane < len(dst); lane += 8 {
		x, rest := c.pack(c.rights, s, side, lane)
		y := x
		if !same {
			y, _ = c.pack(rest, t, side, lane)
		}
		c.gram.multiply(&x, &y, same)
		for b := range dst[lane:min(lane+8, len(dst))] {
			dst[lane+b] += times * c.gram.total[b]
			if same {
				size[lane+b] += float64(x.width) * c.gram.size[b]
			}
		}
	}
}

// A panel holds eight lanes of the factors of terms with one delta: `side` places at a
// time, element after element. The last group has the terms' last places; some may also
// stand in the group before. x has the rows of all terms.
type panel struct {
	side, width int
	rows, cols  int
	x, delta    []float64
}

// panelNumbers is the memory of a panel.
func panelNumbers(terms []*term) int {
	places, count := (terms[0].Width+tileSide-1)/tileSide*tileSide, terms[0].Cols
	for _, t := range terms {
		count += t.Rows
	}
	return 8 * places * count
}

// pack makes a panel at the start of dst.
func (c *context) pack(dst []float64, terms []*term, side, lane int) (p panel, rest []float64) {
	p = panel{side: side, width: terms[0].Width, cols: terms[0].Cols}
	for _, t := range terms {
		p.rows += t.Rows
	}
	tile := 8 * side * ((p.width + side - 1) / side)
	p.x, dst = dst[:tile*p.rows], dst[tile*p.rows:]
	p.delta, dst = dst[:tile*p.cols], dst[tile*p.cols:]
	row := 0
	for _, t := range terms {
		packPlaces(p.x[8*side*row:], c.block(t.X)[lane:], side, p.width, c.pitch, p.rows, t.Rows)
		row += t.Rows
	}
	packPlaces(p.delta, c.block(terms[0].Delta)[lane:], side, p.width, c.pitch, p.cols, p.cols)
	return p, dst
}

// packPlaces copies `count` of the `tall` elements of a panel.
func packPlaces(dst, x []float64, side, width, pitch, tall, count int) {
	whole := width / side
	simd.PackLanes(dst, x, side, whole, tall, pitch, width*pitch, count)
	if whole*side < width {
		simd.PackLanes(dst[8*side*whole*tall:], x[(width-side)*pitch:], side, 1, tall, pitch, width*pitch, count)
	}
}

// multiply sets total to Σ_w,v (x_w·y_v)(δ_w·δ′_v) of two panels. For a panel with itself
// it computes half of the matrices, and sets size.
func (m *gramScratch) multiply(p, q *panel, same bool) {
	side := p.side
	tile := 8 * side * side
	clear(m.total[:])
	clear(m.size[:])
	for i := 0; i < p.width; i += side {
		w, first := min(i, p.width-side), 0
		if same {
			first = i
		}
		clear(m.row[:])
		clear(m.whole[:tile])
		for from := first; from < q.width; from += gramTiles * side {
			places := min(gramTiles*side, q.width-from)
			xx := tiles(&m.tiles[0], p.x[i*8*p.rows:], q.x[from*8*q.rows:], side, places, p.rows)
			dd := tiles(&m.tiles[1], p.delta[i*8*p.cols:], q.delta[from*8*q.cols:], side, places, p.cols)
			for j := from; j < from+places; j += side {
				v, across := min(j, q.width-side), same && i == j
				if across {
					m.addSize(xx, dd, side, i-w)
				}
				switch {
				case i == w && across: // it has each pair of places twice; all others are doubled
					simd.Mul(m.whole[:tile], xx, dd)
					simd.MulScalar(m.whole[:tile], m.whole[:tile], 0.5)
				case i == w && j == v:
					simd.AddProduct(m.whole[:tile], xx, dd)
				default:
					simd.Mul(xx[:tile], xx, dd)
					addTile(m.row[:], xx[:tile], side, i-w, j-v, same, across)
				}
				xx, dd = xx[tile:], dd[tile:]
			}
		}
		addTile(m.row[:], m.whole[:tile], side, 0, 0, same, false)
		simd.Add(m.total[:], m.total[:], m.row[:])
	}
}

// tiles sets dst to the inner products of `side` places of x with places of y, over count
// elements.
func tiles(dst *[gramTiles * 8 * tileSide * tileSide]float64, x, y []float64, side, places, count int) []float64 {
	n, tile := (places+side-1)/side, 8*side*side
	clear(dst[:n*tile])
	for k := 0; k < count; k += gramDepth {
		depth := min(gramDepth, count-k)
		for j := range n {
			simd.LaneProducts(dst[j*tile:], x[8*side*k:], y[8*side*(j*count+k):], side, depth)
		}
	}
	return dst[:n*tile]
}

// addSize adds the products of the squares on the diagonal of two tiles to size, without
// the places that stand in another tile, too.
func (m *gramScratch) addSize(xx, dd []float64, side, from int) {
	for w := from; w < side; w++ {
		at := 8 * (side + 1) * w
		for b := range m.size {
			m.size[b] += (xx[at+b] + underflow) * (dd[at+b] + underflow)
		}
	}
}

// addTile adds the products of pairs of places to row. Those of a symmetric matrix off its
// diagonal count twice. The first i rows and j columns of a tile stand in another tile. A
// tile across the diagonal has the pairs of its lower half twice.
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
		c.addGram(dst, nil, s.alone, t.alone, 2)
		return
	}
	f, g := split{c.rights, c.in[inWeighted]}, c.other
	c.divide(&f, s)
	c.divide(&g, t)
	for b := range dst {
		d, e := c.written[0][:s.Rows*s.Cols], c.written[1][:s.Rows*s.Cols]
		clear(d)
		clear(e)
		f.add(d, s, b)
		g.add(e, t, b)
		dst[b] += 2 * simd.Dot(d, e)
	}
}

// addScatterSquares adds the squared norm of a wide scatter to dst. It first adds up the
// places of a record that pick the same row.
func (c *context) addScatterSquares(dst []float64, t *term) {
	delta, rows := c.block(t.Delta), c.picked(t.Index, t.Rows)
	turned, size := c.rights[:0], t.Width*t.Cols
	if t.rowsTurn() {
		turned = c.rights[:len(delta)]
		c.split(turned, delta, c.pitch, t.Width, true)
	}
	for b := range dst {
		own := c.ofRecord
		if t.rowsTurn() {
			own = turned[b*size:][:size]
		} else {
			for col := range t.Cols {
				for w := range t.Width {
					own[w*t.Cols+col] = delta[(col*t.Width+w)*c.pitch+b]
				}
			}
		}
		distinct := c.distinct[:0]
		for w := range t.Width {
			k := rows[w*c.pitch+b]
			if k < 0 {
				continue
			}
			row := own[w*t.Cols:][:t.Cols]
			if first := c.firstPlace[int(k)]; first > 0 {
				to := own[(first-1)*t.Cols:][:t.Cols]
				simd.Add(to, to, row)
				continue
			}
			c.firstPlace[int(k)] = w + 1
			distinct = append(distinct, w)
		}
		for _, w := range distinct {
			row := own[w*t.Cols:][:t.Cols]
			dst[b] += simd.Dot(row, row)
			c.firstPlace[int(rows[w*c.pitch+b])] = 0
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
