package graph

import "slices"

// TakeOr is the array of shape s whose element i is element index[i] of x, or
// the constant outside where index[i] is -1: what a window sees that reaches
// over the edge of x.
func (b *Builder) TakeOr(x *Node, s Shape, index []int32, outside float64) *Node {
	if anyBad(x) {
		return b.poison
	}
	if !slices.Contains(index, -1) {
		return b.Take(x, s, index)
	}
	edge := int32(x.size)
	moved := make([]int32, len(index))
	for i, j := range index {
		if moved[i] = j; j == -1 {
			moved[i] = edge
		}
	}
	return b.Take(b.concat(b.vector(x), b.Const(outside)), s, moved)
}
