package graph

import "slices"

// A structured adjoint is the part of one record's gradient with respect to a
// global node that is kept as factors instead of one value per element. Its
// elements (r, c) fall on elements offset + r·rowStride + c·colStride of the
// node, all different. They are sums over w < width, the places of one record
// that share the node:
//
//	index ≠ nil   delta[c, w] in row index[w], the other rows 0 (scatter)
//	x ≠ nil       x[r, w]·delta[c, w] (outer)
//	neither       delta[c], with one row and width 1 (block)
type structured struct {
	layout
	width int
	index *Node // vector of width elements
	x     *Node // rows × width
	delta *Node // cols × width
}

// block is a structured adjoint of neighbouring elements.
func block(l layout, delta *Node) structured { return structured{layout: l, width: 1, delta: delta} }

// sameBut reports whether s and t are equal except for delta.
func (s structured) sameBut(t structured) bool {
	return s.layout == t.layout && s.width == t.width && s.index == t.index && s.x == t.x
}

type layout struct{ offset, rows, cols, rowStride, colStride int }

// positions lists the places of the elements, row by row.
func (l layout) positions() []int32 {
	p := make([]int32, 0, l.rows*l.cols)
	for r := range l.rows {
		for c := range l.cols {
			p = append(p, int32(l.offset+r*l.rowStride+c*l.colStride))
		}
	}
	return p
}

// vector is x as a vector of its elements in order.
func (b *Builder) vector(x *Node) *Node { return b.view(x, Shape{{"(i)", x.size}}, nil) }

// matrix is x as a matrix of its elements in order.
func (b *Builder) matrix(x *Node, rows, cols int) *Node {
	return b.view(x, Shape{{"(r)", rows}, {"(c)", cols}}, nil)
}

// outer is the matrix Σ_w x[r,w]·y[c,w] of x [rows×width] and y [cols×width].
func (b *Builder) outer(x, y *Node, width int) *Node {
	rows, cols := x.size/width, y.size/width
	return b.foldNode(b.intern(OpOuter, Shape{{"(r)", rows}, {"(c)", cols}}, x.stage.Join(y.stage),
		[]*Node{x, y}, attr{rows: rows, cols: cols, width: width}))
}

// Product is Σ_w x[r,w]·y[c,w] of two matrices of the record, [r, c]: x·yᵀ. The last
// dimensions have one size; their names may differ.
func (b *Builder) Product(x, y *Node) *Node {
	if anyBad(x, y) {
		return b.poison
	}
	if len(x.shape) != 2 || len(y.shape) != 2 || x.shape[1].Size != y.shape[1].Size {
		return b.fail("product", "%v and %v are no two matrices with rows of one size", x.shape, y.shape)
	}
	s := Shape{x.shape[0], y.shape[0]}
	if err := s.check(); err != nil {
		return b.fail("product", "%v", err)
	}
	return b.view(b.outer(x, y, x.shape[1].Size), s, nil)
}

// scatter is a rows×cols matrix: column w of delta, cols × len(index), is added
// to row index[w].
func (b *Builder) scatter(delta, index *Node, rows int) *Node {
	cols := delta.size / index.size
	return b.foldNode(b.intern(OpScatter, Shape{{"(r)", rows}, {"(c)", cols}},
		delta.stage.Join(index.stage), []*Node{delta, index}, attr{rows: rows, cols: cols, width: index.size}))
}

// dense writes s out as an array of the given shape.
func (b *Builder) dense(s structured, shape Shape) *Node {
	m := s.delta
	switch {
	case s.index != nil:
		m = b.scatter(s.delta, s.index, s.rows)
	case s.x != nil:
		m = b.outer(s.x, s.delta, s.width)
	}
	return b.sumInto(m, shape, s.positions())
}

// through moves s from a view to the node that the view reads: element i goes to element
// index[i], and elements at one place add up. It reports false if the result has none of
// the three structures.
func (b *Builder) through(s structured, index []int32) (structured, bool) {
	if index == nil {
		return s, true
	}
	pos := s.positions()
	for i, p := range pos {
		pos[i] = index[p]
	}
	// The target must be row[r] + col[c].
	row, col := make([]int32, s.rows), pos[:s.cols]
	for r := range row {
		row[r] = pos[r*s.cols] - col[0]
		for c := range s.cols {
			if pos[r*s.cols+c] != row[r]+col[c] {
				return s, false
			}
		}
	}
	rowStride, rowInto, rowOK := progression(row)
	colStride, colInto, colOK := progression(col)
	if !rowOK || !colOK {
		return s, false
	}
	out := s
	out.offset = int(slices.Min(row) + slices.Min(col))
	out.rowStride, out.colStride = rowStride, colStride
	out.delta = b.collect(s.delta, colInto, s.width)
	out.cols = out.delta.size / s.width
	switch rows := 1 + int(slices.Max(rowInto)); {
	case s.x != nil:
		out.x = b.collect(s.x, rowInto, s.width)
		out.rows = rows
	case s.index != nil && rows == 1 && s.rows > 1:
		// every row falls on the same elements
		out = block(out.layout, b.overWidth(out.delta, s.width))
		out.rows = 1
	case s.index != nil && (rows != s.rows || !isIdentity(rowInto)):
		return s, false
	}
	return out, distinct(out.positions())
}

// progression finds the step between the sorted distinct values of v, and the
// place of each element of v among them; false if the steps differ.
func progression(v []int32) (step int, into []int32, ok bool) {
	u := slices.Compact(slices.Sorted(slices.Values(v)))
	if len(u) > 1 {
		step = int(u[1] - u[0])
	}
	for i := 2; i < len(u); i++ {
		if int(u[i]-u[i-1]) != step {
			return 0, nil, false
		}
	}
	into = make([]int32, len(v))
	for i, x := range v {
		if step > 0 {
			into[i] = (x - u[0]) / int32(step)
		}
	}
	return step, into, true
}

// collect adds up the rows of a matrix with width columns that go to the same
// place.
func (b *Builder) collect(x *Node, into []int32, width int) *Node {
	return b.sumInto(x, Shape{{"(i)", (1 + int(slices.Max(into))) * width}}, columns(into, width))
}

// columns are the places of the elements of a matrix with width columns whose rows go to
// into.
func columns(into []int32, width int) []int32 {
	if width == 1 {
		return into
	}
	all := make([]int32, 0, len(into)*width)
	for _, i := range into {
		for w := range width {
			all = append(all, i*int32(width)+int32(w))
		}
	}
	return all
}

// repeat lists every element width times.
func repeat(v []int32, width int) []int32 {
	if width == 1 {
		return v
	}
	all := make([]int32, 0, len(v)*width)
	for _, i := range v {
		for range width {
			all = append(all, i)
		}
	}
	return all
}

// overWidth adds up the columns of a matrix with width of them.
func (b *Builder) overWidth(x *Node, width int) *Node {
	rows := x.size / width
	into := make([]int32, rows)
	for i := range into {
		into[i] = int32(i)
	}
	return b.sumInto(b.vector(x), Shape{{"(i)", rows}}, repeat(into, width))
}

// overRows adds up the rows of a matrix with width columns.
func (b *Builder) overRows(x *Node, width int) *Node {
	return b.sumInto(b.vector(x), Shape{{"(i)", width}}, columns(make([]int32, x.size/width), width))
}

// total is the sum of all elements of s.
func (b *Builder) total(s structured) *Node {
	if s.x == nil {
		return b.Sum(s.delta)
	}
	return b.Sum(b.Mul(b.overRows(s.x, s.width), b.overRows(s.delta, s.width)))
}

func distinct(p []int32) bool {
	q := slices.Sorted(slices.Values(p))
	return len(slices.Compact(q)) == len(p)
}

// at picks from p, which has one value for each element of the node that s
// belongs to, the values at s's elements. It returns the factor for x (nil for
// none) and for delta; false if p does not factorise over rows and columns.
func (b *Builder) at(s structured, p *Node) (forX, forDelta *Node, ok bool) {
	if p.size == 1 {
		return nil, b.view(p, nil, nil), true
	}
	base, m := viewed(p)
	pos := s.positions()
	for i, j := range pos {
		pos[i] = int32(at(m, int(j)))
	}
	sameRows, sameCols := sameAcross(pos, s.cols)
	cols := Shape{{"(i)", s.cols * s.width}}
	switch {
	case sameRows:
		return nil, b.view(base, cols, repeat(pos[:s.cols], s.width)), true
	case s.index != nil:
		return nil, b.gather(b.view(base, Shape{{"(r)", s.rows}, {"(i)", s.cols}}, pos), s.index, cols), true
	case sameCols:
		return b.view(base, Shape{{"(i)", s.rows * s.width}}, repeat(firstColumn(pos, s.cols), s.width)), nil, true
	}
	return nil, nil, false
}

// sameAcross reports whether all rows of a matrix are the same, and all columns.
func sameAcross(m []int32, cols int) (sameRows, sameCols bool) {
	sameRows, sameCols = true, true
	for i, v := range m {
		sameRows = sameRows && v == m[i%cols]
		sameCols = sameCols && v == m[i-i%cols]
	}
	return sameRows, sameCols
}

func firstColumn(m []int32, cols int) []int32 {
	var first []int32
	for i := 0; i < len(m); i += cols {
		first = append(first, m[i])
	}
	return first
}
