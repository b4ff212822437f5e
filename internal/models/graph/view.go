package graph

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
	if index == nil && sameShape(s, x.shape) {
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
