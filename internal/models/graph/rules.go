package graph

// propagate adds n's contributions to its arguments' adjoints.
func (r *reverse) propagate(n *Node, a *adjoint) {
	if n.op.Arity() > 0 {
		for _, s := range a.parts {
			r.partElementwise(n, s, a.masked)
		}
		if a.dense != nil {
			r.elementwise(n, a)
		}
		return
	}
	switch n.op {
	case OpView:
		for _, s := range a.parts {
			r.partView(n, s, a.masked)
		}
	case OpMatVec:
		for _, s := range a.parts {
			r.partMatVec(n, s, a.masked)
		}
	default:
		r.flatten(n, a, a.parts, "it goes through "+n.op.String())
	}
	if a.dense == nil {
		return
	}
	x := n.args[0]
	switch n.op {
	case OpView:
		r.view(n, a)
	case OpSum:
		if r.needs[x] {
			if a.dense.size == 1 {
				r.add(x, r.b.view(a.dense, nil, nil), a.masked)
			} else {
				r.add(x, r.b.view(a.dense, x.shape, n.attr.index), a.masked)
			}
		}
	case OpMaxReduce:
		r.maxReduce(n, a)
	case OpStack:
		r.stack(n, a)
	case OpMatVec:
		r.matVec(n, a)
	case OpOuter:
		r.outer(n, a)
	case OpGather:
		r.gather(n, a)
	default:
		r.b.fail("gradient", "%v has no derivative", n.op)
	}
}

func (r *reverse) elementwise(n *Node, a *adjoint) {
	b := r.b
	for i, x := range n.args {
		if !r.needs[x] {
			continue
		}
		masked := a.masked || isMask(n.op)
		var c *Node
		if n.op == OpWhere {
			if i == 0 {
				continue
			}
			branch := [...]*Node{nil, a.dense, a.dense}
			branch[3-i] = b.Const(0)
			c = b.Where(n.args[0], branch[1], branch[2])
		} else {
			p := b.partial(n, i)
			switch {
			case p == nil:
				continue
			case isMask(n.op):
				c = b.elementwise(OpMulZero, p, a.dense)
			default:
				c = r.product(a.dense, p, a.masked)
			}
		}
		if x.size == 1 && n.size > 1 {
			if c.size == 1 {
				c = b.Mul(b.view(c, nil, nil), b.Const(float64(n.size)))
			} else {
				c = b.Sum(c)
			}
		}
		r.add(x, c, masked)
	}
}

// view sends a dense adjoint back through a view: as a separate block if the view picks a
// few elements of a global node, else summed into place.
func (r *reverse) view(n *Node, a *adjoint) {
	x := n.args[0]
	if !r.needs[x] {
		return
	}
	if n.attr.index == nil {
		r.add(x, a.dense, a.masked)
		return
	}
	d := r.b.vector(r.full(n, a.dense))
	if x.stage == StageGlobal {
		whole := block(layout{rows: 1, cols: n.size, rowStride: n.size, colStride: 1}, d)
		if s, ok := r.b.through(whole, n.attr.index); ok {
			r.addPart(x, s, a.masked)
			return
		}
	}
	r.add(x, r.b.sumInto(d, x.shape, n.attr.index), a.masked)
}

func (r *reverse) maxReduce(n *Node, a *adjoint) {
	b, x := r.b, n.args[0]
	if !r.needs[x] {
		return
	}
	mask := b.Equal(x, b.view(n, x.shape, n.attr.index))
	share := b.Div(r.full(n, a.dense), b.sumInto(mask, n.shape, n.attr.index))
	r.add(x, b.elementwise(OpMulZero, mask, b.view(share, x.shape, n.attr.index)), true)
}

func (r *reverse) stack(n *Node, a *adjoint) {
	d := r.full(n, a.dense)
	first := 0
	for _, x := range n.args {
		if r.needs[x] {
			index := make([]int32, x.size)
			for i := range index {
				index[i] = int32(first + i)
			}
			r.add(x, r.b.view(d, x.shape, index), a.masked)
		}
		first += x.size
	}
}

// gather leaves a global source with a scatter, a per-record one with lanes.
func (r *reverse) gather(n *Node, a *adjoint) {
	x, index := n.args[0], n.args[1]
	if !r.needs[x] {
		return
	}
	rows, cols := n.attr.rows, n.attr.cols
	b, d := r.b, r.b.vector(r.full(n, a.dense))
	if x.stage == StageGlobal {
		r.addPart(x, structured{layout{0, rows, cols, cols, 1}, index.size, b.vector(index), nil, d}, a.masked)
		return
	}
	r.add(x, b.scatter(d, index, rows), a.masked)
}

// outer gives x of x·yᵀ the adjoint d·y and y the adjoint dᵀ·x.
func (r *reverse) outer(n *Node, a *adjoint) {
	b, at := r.b, n.attr
	x, y := n.args[0], n.args[1]
	d := r.full(n, a.dense)
	turned := func(m *Node, rows, cols int) *Node { return b.Transpose(b.matrix(m, rows, cols)) }
	if r.needs[x] {
		r.add(x, b.outer(d, turned(y, at.cols, at.width), at.cols), a.masked)
	}
	if r.needs[y] {
		r.add(y, b.outer(turned(d, at.rows, at.cols), turned(x, at.rows, at.width), at.rows), a.masked)
	}
}

// matVec gives the matrix an outer product for each record, summed over the
// columns of x, and x the adjoint Wᵀ·adjoint.
func (r *reverse) matVec(n *Node, a *adjoint) {
	b, at := r.b, n.attr
	w, x := n.args[0], n.args[1]
	d := r.full(n, a.dense)
	if r.needs[w] {
		y := x
		if a.masked && (r.branches && x.op != OpColumn || !r.bounded(x)) {
			y = b.Where(b.MaxOver(b.Abs(d)), x, b.Const(0))
		}
		delta, input := b.vector(d), b.vector(y)
		perRecord := (d.stage|x.stage)&StageData != 0
		switch {
		case perRecord && at.cols > 1 && (at.width == 1 || at.rows > 1):
			l := layout{0, at.cols, at.rows, 1, at.cols}
			if at.trans {
				l.rowStride, l.colStride = at.rows, 1
			}
			r.addPart(w, structured{l, at.width, nil, input, delta}, a.masked)
		default: // not more values than its factors have
			if at.trans {
				delta, input = input, delta
			}
			r.add(w, b.vector(b.outer(delta, input, at.width)), a.masked)
		}
	}
	if r.needs[x] {
		r.add(x, b.matVec(w, d, x.shape, at.cols, at.rows, at.width, !at.trans), a.masked)
	}
}
