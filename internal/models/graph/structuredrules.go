package graph

// These rules carry structured adjoints of global nodes further back while
// they keep a structure: parameters behind transforms, such as a non-centred
// effect sd·z gathered by group, cost a few lanes, not one for each group.

// partElementwise passes s through an element-wise global node: a scatter
// gathers the partial derivative, computed once per step, at its own row.
func (r *reverse) partElementwise(n *Node, s structured, masked bool) {
	b := r.b
	for i, x := range n.args {
		if !r.needs[x] {
			continue
		}
		p := b.partial(n, i)
		if p == nil {
			continue
		}
		masked := masked || isMask(n.op)
		forX, forDelta, ok := b.at(s, p)
		switch t := s; {
		case ok && (forX == nil || !masked):
			if forX != nil {
				t.x = b.Mul(b.vector(s.x), forX)
			}
			if forDelta != nil {
				t.delta = r.scaled(n.op, b.vector(s.delta), forDelta, masked)
			}
			if x.size == n.size {
				r.addPart(x, t, masked)
				continue
			}
			r.add(x, b.total(t), masked) // x is a scalar
		case s.x != nil && !masked && r.contract(x, s, r.full(n, p)):
		default:
			r.note(n, "its partial derivative has no factors")
			c := r.scaled(n.op, b.dense(s, n.shape), p, masked)
			if x.size == 1 {
				c = b.Sum(c)
			}
			r.add(x, c, masked)
		}
	}
}

// contract adds the adjoint x[r]·delta[c]·p[r,c] of an argument that is the
// same for all rows or all columns, as the scale of each input or output of a
// layer is: delta ⊙ (Pᵀ·x) or x ⊙ (P·delta). It reports false for others.
func (r *reverse) contract(arg *Node, s structured, p *Node) bool {
	b := r.b
	base, index := viewed(arg)
	target := s.positions()
	for i, j := range target {
		if base.size == 1 {
			target[i] = 0
		} else {
			target[i] = int32(at(index, int(j)))
		}
	}
	sameRows, sameCols := sameAcross(target, s.cols)
	m := b.view(p, Shape{{"(r)", s.rows}, {"(c)", s.cols}}, s.positions())
	x, delta := b.vector(s.x), b.vector(s.delta)
	switch {
	case sameRows:
		v := b.matVec(m, x, Shape{{"(i)", s.cols * s.width}}, s.cols, s.rows, s.width, true)
		r.add(base, b.sumInto(b.Mul(delta, v), base.shape, repeat(target[:s.cols], s.width)), false)
	case sameCols:
		v := b.matVec(m, delta, Shape{{"(i)", s.rows * s.width}}, s.rows, s.cols, s.width, false)
		r.add(base, b.sumInto(b.Mul(x, v), base.shape, repeat(firstColumn(target, s.cols), s.width)), false)
	}
	return sameRows || sameCols
}

// scaled is d·p, where a mask p rules over d and a masked d over p.
func (r *reverse) scaled(op Op, d, p *Node, masked bool) *Node {
	if isMask(op) {
		return r.b.elementwise(OpMulZero, p, d)
	}
	return r.product(d, p, masked)
}

func (r *reverse) partView(n *Node, s structured, masked bool) {
	x := n.args[0]
	if !r.needs[x] {
		return
	}
	if t, ok := r.b.through(s, n.attr.index); ok {
		r.addPart(x, t, masked)
		return
	}
	r.note(x, "it is viewed in another order")
	d := r.b.vector(r.b.dense(s, n.shape))
	r.add(x, r.b.sumInto(d, x.shape, n.attr.index), masked)
}

// partMatVec passes s through a product W·X of global matrices. An adjoint
// u⊗v with u over the rows of the product and v over its width gives
// W the adjoint u⊗(X·v) and X the adjoint (Wᵀ·u)⊗v; a scatter is the case
// where u or v is 1 at the index and 0 elsewhere. A sum of such products, over
// the width of s, gives sums.
func (r *reverse) partMatVec(n *Node, s structured, masked bool) {
	b, at := r.b, n.attr
	w, x := n.args[0], n.args[1]
	u, v, ok := r.factors(n, s)
	if !ok {
		r.note(n, "it is not a product over rows and columns of a matrix product")
		a := &adjoint{dense: b.dense(s, n.shape), masked: masked}
		r.matVec(n, a)
		return
	}
	if r.needs[w] {
		// W[r,c] is at r·rs + c·cs.
		rs, cs := at.cols, 1
		if at.trans {
			rs, cs = 1, at.rows
		}
		r.addProduct(w, u, rs, r.times(x, v, at.cols, at.width, false), cs, masked)
	}
	if r.needs[x] {
		r.addProduct(x, r.times(w, u, at.cols, at.rows, !at.trans), at.width, v, 1, masked)
	}
}

// A factor is a matrix of size × width, or one whose columns are 1 at a
// per-record index and 0 elsewhere.
type factor struct {
	vector *Node
	index  *Node
	size   int
	width  int
}

// factors splits s into u over the rows and v over the width of the product n. The factor
// that is no index contains the adjoint itself.
func (r *reverse) factors(n *Node, s structured) (u, v factor, ok bool) {
	rows, width := n.attr.rows, n.attr.width
	first := factor{s.x, s.index, s.rows, s.width}
	if s.index == nil && s.x == nil {
		return u, v, false
	}
	second := factor{s.delta, nil, s.cols, s.width}
	place := func(f factor, offset, stride, size int) factor {
		if f.index != nil || f.size == size && stride == 1 {
			return f
		}
		into := make([]int32, f.size)
		for i := range into {
			into[i] = int32(offset + i*stride)
		}
		return factor{r.b.sumInto(r.b.vector(f.vector), Shape{{"(i)", size * f.width}}, columns(into, f.width)), nil, size, f.width}
	}
	whole := func(f factor, offset, stride, size int) bool {
		return f.index == nil || f.size == size && offset == 0 && stride == 1
	}
	row, col := s.offset/width, s.offset%width
	switch {
	case s.rowStride%width == 0 && col+(s.cols-1)*s.colStride < width && whole(first, row, s.rowStride/width, rows):
		return place(first, row, s.rowStride/width, rows), place(second, col, s.colStride, width), true
	case s.colStride%width == 0 && col+(s.rows-1)*s.rowStride < width && whole(first, col, s.rowStride, width):
		return place(second, row, s.colStride/width, rows), place(first, col, s.rowStride, width), true
	}
	return u, v, false
}

// times is the rows×cols matrix m (stored transposed if trans) times f.
func (r *reverse) times(m *Node, f factor, rows, cols int, trans bool) factor {
	s := Shape{{"(i)", rows * f.width}}
	if f.index == nil {
		return factor{r.b.matVec(m, r.b.vector(f.vector), s, rows, cols, f.width, trans), nil, rows, f.width}
	}
	columns := r.b.matrix(m, cols, rows)
	if !trans {
		columns = r.b.Expand(r.b.matrix(m, rows, cols), Shape{{"(c)", cols}, {"(r)", rows}})
	}
	return factor{r.b.gather(columns, f.index, s), nil, rows, f.width}
}

// addProduct adds the adjoint f⊗g, with f's elements fs and g's gs apart in n.
func (r *reverse) addProduct(n *Node, f factor, fs int, g factor, gs int, masked bool) {
	if g.index != nil {
		f, fs, g, gs = g, gs, f, fs
	}
	s := structured{layout{0, f.size, g.size, fs, gs}, f.width, f.index, f.vector, r.b.vector(g.vector)}
	if f.index == nil {
		s.x = r.b.vector(f.vector)
	}
	r.addPart(n, s, masked)
}
