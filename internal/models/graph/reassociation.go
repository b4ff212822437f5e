package graph

import "slices"

// Products and sums are reassociated so that operands that are computed equally
// often meet: constants are combined while building, and global values once per
// step instead of once per record.

// rank orders nodes by how often they are computed.
func (n *Node) rank() int {
	switch {
	case n.stage&StageData != 0:
		return 2
	case n.stage == StageGlobal:
		return 1
	}
	return 0
}

// parts splits a sum or product into h and z if h is computed less often than z.
func (n *Node) parts(op Op) (h, z *Node, ok bool) {
	if n.op != op {
		return nil, nil, false
	}
	h, z = n.args[0], n.args[1]
	if h.rank() > z.rank() {
		h, z = z, h
	}
	return h, z, h.rank() < z.rank()
}

// reassociateProduct is x·y with a factor of lower rank multiplied into another one;
// nil if there is none.
func (b *Builder) reassociateProduct(x, y *Node) *Node {
	if x.rank() > y.rank() {
		x, y = y, x
	}
	if x.rank() < y.rank() {
		return b.absorb(x, y)
	}
	for range 2 {
		if h, z, ok := y.parts(OpMul); ok { // x·(h·z) = (h·x)·z
			if t := b.absorb(h, x); t != nil {
				return b.elementwise(OpMul, t, z)
			}
		}
		inner, index := viewed(y)
		if h, z, ok := inner.parts(OpMul); ok && inner != y && h.size == 1 { // the same behind a view
			if t := b.absorb(h, x); t != nil {
				return b.elementwise(OpMul, t, b.view(z, y.shape, index))
			}
		}
		x, y = y, x
	}
	return nil
}

// absorb is g·x without an additional product of x's rank; nil if that is
// impossible. g has a lower rank than x.
func (b *Builder) absorb(g, x *Node) *Node {
	if h, z, ok := x.parts(OpMul); ok && g.rank() < z.rank() {
		if g.size > 1 && h.size == 1 && x.size == 1 {
			return nil // z is a scalar: one product more for each element
		}
		return b.elementwise(OpMul, b.elementwise(OpMul, g, h), z)
	}
	switch x.op {
	case OpNeg:
		return b.absorb(b.elementwise(OpNeg, g), x.args[0])
	case OpMul:
		for i, a := range x.args {
			if a.rank() > g.rank() {
				if t := b.absorb(g, a); t != nil {
					return b.elementwise(OpMul, t, x.args[1-i])
				}
			}
		}
	case OpView:
		inner, index := viewed(x)
		if g.size > 1 {
			base, gi := viewed(g)
			if !slices.Equal(base.shape, inner.shape) || !slices.Equal(gi, index) {
				return nil
			}
			g = base
		}
		if t := b.absorb(g, inner); t != nil {
			return b.view(t, x.shape, index)
		}
	}
	return nil
}

// reassociateSum is x + y with a term of lower rank added to another one; nil if
// neither has such a term. Two arrays placed side by side become one.
func (b *Builder) reassociateSum(x, y *Node) *Node {
	if x.rank() > y.rank() {
		x, y = y, x
	}
	if h, z, ok := y.parts(OpAdd); ok && x.rank() < z.rank() {
		return b.elementwise(OpAdd, b.elementwise(OpAdd, x, h), z)
	}
	if y.op == OpSub && y.args[1].rank() < y.args[0].rank() && x.rank() < y.args[0].rank() {
		return b.elementwise(OpAdd, b.elementwise(OpSub, x, y.args[1]), y.args[0])
	}
	if x.op == OpSum && y.op == OpSum && slices.Equal(x.shape, y.shape) {
		if y.attr.index[0] < x.attr.index[0] {
			x, y = y, x
		}
		if into := slices.Concat(x.attr.index, y.attr.index); distinct(into) {
			return b.sumInto(b.concat(x.args[0], y.args[0]), x.shape, into)
		}
	}
	return nil
}

// concat is the vector of the elements of all, one node after the other.
func (b *Builder) concat(all ...*Node) *Node {
	var parts []*Node
	size, stage := 0, StageConst
	for _, n := range all {
		size += n.size
		stage = stage.Join(n.stage)
		if n.op == OpStack && len(n.shape) == 1 && n.shape[0].Name == "(i)" {
			parts = append(parts, n.args...)
		} else {
			parts = append(parts, n)
		}
	}
	s := Shape{{"(i)", size}}
	if n := b.joinViews(s, parts); n != nil {
		return n
	}
	return b.intern(OpStack, s, stage, parts, attr{})
}

// beforeViews moves an element-wise op before views that all operands share, op(view(x)) =
// view(op(x)), if that leaves fewer elements or, for a permutation of global nodes, more
// shared ones.
func (b *Builder) beforeViews(op Op, shape Shape, args []*Node) *Node {
	var base, first *Node
	inner := make([]*Node, len(args))
	for i, a := range args {
		switch {
		case a.op == OpView && a.size > 1:
			x, index := viewed(a)
			if first == nil {
				base, first = x, a
			}
			same := x.size == a.size && (a.rank() == 2 || index == nil)
			if x.size > a.size || same || !slices.Equal(x.shape, base.shape) || !slices.Equal(index, first.attr.index) {
				return nil
			}
			inner[i] = x
		case a.size == 1:
			inner[i] = b.view(a, nil, nil)
		default:
			return nil
		}
	}
	if first == nil {
		return nil
	}
	return b.view(b.elementwise(op, inner...), shape, first.attr.index)
}
