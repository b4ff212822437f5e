package graph

import "slices"

// Layout operations move elements without computing. Those that read (Take
// and what is built from it) cost nothing at run time: they become the Map of
// an Operand.

// Take is the array of shape s whose element i is element index[i] of x.
func (b *Builder) Take(x *Node, s Shape, index []int32) *Node {
	if anyBad(x) {
		return b.poison
	}
	if err := s.check(); err != nil {
		return b.fail("take", "%v", err)
	}
	if len(index) != s.Size() {
		return b.fail("take", "%d indices for shape %v", len(index), s)
	}
	for _, j := range index {
		if j < 0 || int(j) >= x.size {
			return b.fail("take", "index %d is outside of %v", j, x.shape)
		}
	}
	return b.view(x, s, index)
}

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

// isRange says whether index counts upwards by one.
func isRange(index []int32) bool {
	for i, j := range index {
		if j != index[0]+int32(i) {
			return false
		}
	}
	return true
}

// Expand broadcasts x to shape s by dimension name; s has all of x's
// dimensions, in any order.
func (b *Builder) Expand(x *Node, s Shape) *Node {
	if anyBad(x) {
		return b.poison
	}
	if sameShape(x.shape, s) {
		return x
	}
	if err := s.check(); err != nil {
		return b.fail("expand", "%v", err)
	}
	for _, d := range x.shape {
		if i := s.Index(d.Name); i < 0 || s[i].Size != d.Size {
			return b.fail("expand", "%v does not fit into %v", x.shape, s)
		}
	}
	index := make([]int32, s.Size())
	s.walk(func(i int, at []int) { index[i] = int32(at[0]) }, s.stridesIn(x.shape))
	return b.view(x, s, index)
}

// Permute reorders the dimensions of x; dims names all of them.
func (b *Builder) Permute(x *Node, dims ...string) *Node {
	if anyBad(x) {
		return b.poison
	}
	s := make(Shape, 0, len(dims))
	for _, name := range dims {
		i := x.shape.Index(name)
		if i < 0 {
			return b.fail("permute", "no dimension %s in %v", name, x.shape)
		}
		s = append(s, x.shape[i])
	}
	if len(s) != len(x.shape) {
		return b.fail("permute", "%d dimensions named of %v", len(dims), x.shape)
	}
	return b.Expand(x, s)
}

// Transpose swaps the two dimensions of a matrix.
func (b *Builder) Transpose(x *Node) *Node {
	if anyBad(x) {
		return b.poison
	}
	if len(x.shape) != 2 {
		return b.fail("transpose", "%v has %d dimensions, want 2", x.shape, len(x.shape))
	}
	return b.Permute(x, x.shape[1].Name, x.shape[0].Name)
}

// Rename gives dimension from the name to.
func (b *Builder) Rename(x *Node, from, to string) *Node {
	if anyBad(x) {
		return b.poison
	}
	i := x.shape.Index(from)
	if i < 0 {
		return b.fail("rename", "no dimension %s in %v", from, x.shape)
	}
	s := slices.Clone(x.shape)
	s[i].Name = to
	if err := s.check(); err != nil {
		return b.fail("rename", "%v", err)
	}
	return b.view(x, s, nil)
}

// Reshape gives the elements of x, in row-major order, another shape of the
// same size.
func (b *Builder) Reshape(x *Node, s Shape) *Node {
	if anyBad(x) {
		return b.poison
	}
	if err := s.check(); err != nil {
		return b.fail("reshape", "%v", err)
	}
	if s.Size() != x.size {
		return b.fail("reshape", "%v has %d elements, %v has %d", x.shape, x.size, s, s.Size())
	}
	return b.view(x, s, nil)
}

// Slice is x at index i of dimension dim, which the result lacks.
func (b *Builder) Slice(x *Node, dim string, i int) *Node {
	if anyBad(x) {
		return b.poison
	}
	d := x.shape.Index(dim)
	if d < 0 {
		return b.fail("slice", "no dimension %s in %v", dim, x.shape)
	}
	if i < 0 || i >= x.shape[d].Size {
		return b.fail("slice", "index %d is outside of dimension %s, which has size %d", i, dim, x.shape[d].Size)
	}
	s := slices.Delete(slices.Clone(x.shape), d, d+1)
	first := i * x.shape.strides()[d]
	index := make([]int32, s.Size())
	s.walk(func(i int, at []int) { index[i] = int32(first + at[0]) }, s.stridesIn(x.shape))
	return b.view(x, s, index)
}

// SliceRange is x at indices lo ≤ i < hi of dimension dim, which becomes the
// dimension named to.
func (b *Builder) SliceRange(x *Node, dim string, lo, hi int, to string) *Node {
	if anyBad(x) {
		return b.poison
	}
	d := x.shape.Index(dim)
	if d < 0 {
		return b.fail("slice", "no dimension %s in %v", dim, x.shape)
	}
	if lo < 0 || lo >= hi || hi > x.shape[d].Size {
		return b.fail("slice", "range %d to %d is outside of dimension %s, which has size %d", lo, hi, dim, x.shape[d].Size)
	}
	st := x.shape.strides()
	s := slices.Clone(x.shape)
	s[d] = Dim{to, hi - lo}
	if err := s.check(); err != nil {
		return b.fail("slice", "%v", err)
	}
	index := make([]int32, s.Size())
	s.walk(func(i int, at []int) { index[i] = int32(lo*st[d] + at[0]) }, st)
	return b.view(x, s, index)
}

// Place is an array of shape s that has element i of x at into[i], the sum
// where several fall on one place, and 0 elsewhere.
func (b *Builder) Place(x *Node, s Shape, into []int32) *Node {
	if anyBad(x) {
		return b.poison
	}
	if err := s.check(); err != nil {
		return b.fail("place", "%v", err)
	}
	if len(into) != x.size {
		return b.fail("place", "%d indices for %v", len(into), x.shape)
	}
	for _, j := range into {
		if j < 0 || int(j) >= s.Size() {
			return b.fail("place", "index %d is outside of %v", j, s)
		}
	}
	return b.sumInto(x, s, into)
}

// Diag is the diagonal matrix of a vector; its second dimension is named to.
func (b *Builder) Diag(x *Node, to string) *Node {
	if anyBad(x) {
		return b.poison
	}
	if len(x.shape) != 1 {
		return b.fail("diag", "%v is not a vector", x.shape)
	}
	into := make([]int32, x.size)
	for i := range into {
		into[i] = int32(i * (x.size + 1))
	}
	return b.Place(x, Shape{x.shape[0], {to, x.size}}, into)
}

// DiagPart is the diagonal of a square matrix, with its first dimension.
func (b *Builder) DiagPart(x *Node) *Node {
	if anyBad(x) {
		return b.poison
	}
	if len(x.shape) != 2 || x.shape[0].Size != x.shape[1].Size {
		return b.fail("diag", "%v is not a square matrix", x.shape)
	}
	n := x.shape[0].Size
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(i * (n + 1))
	}
	return b.view(x, x.shape[:1], index)
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

// viewed is the node that x reads, and where.
func viewed(x *Node) (base *Node, index []int32) {
	if x.op == OpView {
		return x.args[0], x.attr.index
	}
	return x, nil
}

// Gather is x at a per-record index of dimension dim: x[.., index, ..]. The
// index is a constant or comes from columns, is truncated to an integer, and
// makes the result NaN where it is out of range. An index with dimensions
// picks for each of its elements: dimensions that x shares with it are paired,
// the others come first in the result.
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

// gather picks a block of the first dimension of x.
func (b *Builder) gather(x, index *Node, rest Shape) *Node {
	cols := rest.Size()
	return b.intern(OpGather, rest, x.stage.Join(index.stage), []*Node{x, index},
		attr{rows: x.size / cols, cols: cols})
}

// gatherEach gathers for each element along the first dimension of index.
func (b *Builder) gatherEach(x *Node, dim string, index *Node) *Node {
	d := index.shape[0]
	if d.Name == dim {
		return b.fail("gather", "the index %v has the dimension that it picks from", index.shape)
	}
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
