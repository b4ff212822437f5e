package graph

// contracted is the name of the dimension that a product of two per-record
// arrays sums over; no name of the language can clash with it.
const contracted = "(contracted)"

// MatMul contracts the last dimension of x with the first of y, which have the
// same size; their names may differ. The result has x's other dimensions, then
// y's. A product with a constant or global factor stays a matrix product, and
// the factor's gradient an outer product.
func (b *Builder) MatMul(x, y *Node) *Node {
	if anyBad(x, y) {
		return b.poison
	}
	if len(x.shape) == 0 || len(y.shape) == 0 {
		return b.fail("@", "%v @ %v: both sides need a dimension", x.shape, y.shape)
	}
	xs, k := x.shape[:len(x.shape)-1], x.shape[len(x.shape)-1]
	ys := y.shape[1:]
	if k.Size != y.shape[0].Size {
		return b.fail("@", "%v @ %v: dimension %s has size %d but %s has %d",
			x.shape, y.shape, k.Name, k.Size, y.shape[0].Name, y.shape[0].Size)
	}
	s := append(xs[:len(xs):len(xs)], ys...)
	if err := s.check(); err != nil {
		return b.fail("@", "%v @ %v: %v", x.shape, y.shape, err)
	}
	switch {
	case x.stage&StageData == 0:
		return b.matVec(x, y, s, xs.Size(), k.Size, ys.Size(), false)
	case y.stage&StageData == 0:
		// x·y = (yᵀ·xᵀ)ᵀ, so that the global factor comes first.
		xt := b.Expand(x, append(Shape{k}, xs...))
		ts := append(ys[:len(ys):len(ys)], xs...)
		return b.Expand(b.matVec(y, xt, ts, ys.Size(), k.Size, xs.Size(), true), s)
	}
	xk := b.view(x, append(xs[:len(xs):len(xs)], Dim{contracted, k.Size}), nil)
	yk := b.view(y, append(Shape{{contracted, k.Size}}, ys...), nil)
	return b.Sum(b.Mul(xk, yk), contracted)
}

// matVec is W·x with x as a Cols×Width matrix; see Instr.
func (b *Builder) matVec(w, x *Node, s Shape, rows, cols, width int, trans bool) *Node {
	if rows == 1 || cols == 1 {
		trans = false // both orders are the same
	}
	return b.foldNode(b.intern(OpMatVec, s, w.stage.Join(x.stage), []*Node{w, x},
		attr{rows: rows, cols: cols, width: width, trans: trans}))
}
