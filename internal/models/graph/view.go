package graph

import "slices"

// view is Take without checks; index nil is the identity.
func (b *Builder) view(x *Node, s Shape, index []int32) *Node {
	if x.op == OpView {
		inner := x.attr.index
		switch {
		case index == nil:
			index = inner
		case inner != nil:
			composed := make([]int32, len(index))
			for i, j := range index {
				composed[i] = inner[j]
			}
			index = composed
		}
		x = x.args[0]
	}
	if index != nil && len(index) == x.size && isIdentity(index) {
		index = nil
	}
	if index == nil && slices.Equal(s, x.shape) {
		return x
	}
	if x.op == OpConst {
		v := make([]float64, s.Size())
		for i := range v {
			v[i] = x.attr.values[at(index, i)]
		}
		return b.intern(OpConst, s, StageConst, nil, attr{values: v})
	}
	if x.op == OpColumn && index != nil {
		if first := index[0]; isRange(index) {
			return b.intern(OpColumn, s, StageData, nil, attr{offset: x.attr.offset + int(first)})
		}
	}
	return b.intern(OpView, s, x.stage, []*Node{x}, attr{index: index})
}

// at is index[i], or i without an index.
func at(index []int32, i int) int {
	if index == nil {
		return i
	}
	return int(index[i])
}

func isIdentity(index []int32) bool { return index[0] == 0 && isRange(index) }

// isRange reports whether index counts upwards by one.
func isRange(index []int32) bool {
	for i, j := range index {
		if j != index[0]+int32(i) {
			return false
		}
	}
	return true
}

// viewed is the node that x reads, and where.
func viewed(x *Node) (base *Node, index []int32) {
	if x.op == OpView {
		return x.args[0], x.attr.index
	}
	return x, nil
}

// Stack joins nodes along a new first dimension d, one node for each index;
// they are broadcast to a common shape.
func (b *Builder) Stack(d Dim, xs ...*Node) *Node {
	if anyBad(xs...) {
		return b.poison
	}
	if len(xs) != d.Size || len(xs) == 0 {
		return b.fail("stack", "%d parts for dimension %s, which has size %d", len(xs), d.Name, d.Size)
	}
	rest, ok := b.broadcast(OpStack, xs)
	if !ok {
		return b.poison
	}
	s := append(Shape{d}, rest...)
	if err := s.check(); err != nil {
		return b.fail("stack", "%v", err)
	}
	parts := make([]*Node, len(xs))
	stage := StageConst
	for i, x := range xs {
		parts[i] = b.Expand(x, rest)
		stage = stage.Join(x.stage)
	}
	if n := b.joinViews(s, parts); n != nil {
		return n
	}
	return b.intern(OpStack, s, stage, parts, attr{})
}

// Concat joins nodes along their first dimension, which becomes d; the others are equal.
func (b *Builder) Concat(d Dim, xs ...*Node) *Node {
	if anyBad(xs...) {
		return b.poison
	}
	if len(xs) == 0 {
		return b.fail("concat", "nothing to join along %s", d.Name)
	}
	size := 0
	for _, x := range xs {
		if len(x.shape) == 0 || !slices.Equal(x.shape[1:], xs[0].shape[1:]) {
			return b.fail("concat", "%v beside %v", x.shape, xs[0].shape)
		}
		size += x.shape[0].Size
	}
	if size != d.Size {
		return b.fail("concat", "%d parts for dimension %s, which has size %d", size, d.Name, d.Size)
	}
	return b.Reshape(b.concat(xs...), append(Shape{d}, xs[0].shape[1:]...))
}

// joinViews makes parts of one node into a single view of it, and neighbouring
// columns into a block of columns; nil if the parts are of another kind.
func (b *Builder) joinViews(s Shape, parts []*Node) *Node {
	first := parts[0]
	if first.op == OpColumn {
		next := first.attr.offset
		for _, p := range parts {
			if p.op != OpColumn || p.attr.offset != next {
				return nil
			}
			next += p.size
		}
		return b.intern(OpColumn, s, StageData, nil, attr{offset: first.attr.offset})
	}
	if first.op == OpConst {
		var v []float64
		for _, p := range parts {
			if p.op != OpConst {
				return nil
			}
			v = append(v, p.attr.values...)
		}
		return b.intern(OpConst, s, StageConst, nil, attr{values: v})
	}
	base, _ := viewed(first)
	index := make([]int32, 0, s.Size())
	for _, p := range parts {
		x, m := viewed(p)
		if x != base {
			return nil
		}
		for i := range p.size {
			index = append(index, int32(at(m, i)))
		}
	}
	return b.view(base, s, index)
}
