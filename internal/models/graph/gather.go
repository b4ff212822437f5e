package graph

import "slices"

// Gather is x at a per-record index of dimension dim: x[.., index, ..]. The index is a
// constant or comes from columns; it is truncated to an integer, and an index out of range
// gives NaN. An index with dimensions picks for each of its elements: dimensions that x
// shares with it are paired, the others come first in the result.
func (b *Builder) Gather(x *Node, dim string, index *Node) *Node {
	if anyBad(x, index) {
		return b.poison
	}
	d := x.shape.Index(dim)
	switch {
	case d < 0:
		return b.fail("gather", "no dimension %s in %v", dim, x.shape)
	case index.stage&StageGlobal != 0:
		return b.fail("gather", "the index of dimension %s depends on parameters", dim)
	case len(index.shape) > 0:
		return b.gatherEach(x, dim, index)
	}
	if v, ok := index.Value(); ok {
		if v != v || v < 0 || v >= float64(x.shape[d].Size) {
			return b.fail("gather", "index %v is outside of dimension %s, which has size %d", v, dim, x.shape[d].Size)
		}
		return b.Slice(x, dim, int(v))
	}
	rest := slices.Delete(slices.Clone(x.shape), d, d+1)
	front := b.Expand(x, append(Shape{x.shape[d]}, rest...))
	return b.gather(front, index, rest)
}

// gather picks a block of the first dimension of x for every element of index:
// s has the elements of a block, then those of index.
func (b *Builder) gather(x, index *Node, s Shape) *Node {
	cols := s.Size() / index.size
	return b.intern(OpGather, s, x.stage.Join(index.stage), []*Node{x, index},
		attr{rows: x.size / cols, cols: cols, width: index.size})
}

// gatherEach gathers for each element of index: all at once if x shares no dimension with
// it, else along the first.
func (b *Builder) gatherEach(x *Node, dim string, index *Node) *Node {
	if index.shape.Index(dim) >= 0 {
		return b.fail("gather", "the index %v has the dimension that it picks from", index.shape)
	}
	if !slices.ContainsFunc(index.shape, func(d Dim) bool { return x.shape.Index(d.Name) >= 0 }) {
		picked := x.shape.Index(dim)
		rest := slices.Delete(slices.Clone(x.shape), picked, picked+1)
		front := b.Expand(x, append(Shape{x.shape[picked]}, rest...))
		all := b.gather(front, index, slices.Concat(rest, index.shape))
		return b.Expand(all, slices.Concat(index.shape, rest))
	}
	d := index.shape[0]
	parts := make([]*Node, d.Size)
	for i := range parts {
		from := x
		if x.shape.Index(d.Name) >= 0 {
			from = b.Slice(x, d.Name, i)
		}
		parts[i] = b.Gather(from, dim, b.Slice(index, d.Name, i))
	}
	return b.Stack(d, parts...)
}

// OneHot is 1 at the index and 0 elsewhere, along the new dimension d.
func (b *Builder) OneHot(index *Node, d Dim) *Node {
	if anyBad(index) {
		return b.poison
	}
	v := make([]float64, d.Size)
	for i := range v {
		v[i] = float64(i)
	}
	return b.Equal(index, b.Consts(Shape{d}, v))
}
