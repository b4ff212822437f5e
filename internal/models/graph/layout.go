package graph

import "slices"

// Layout operations move elements without computing. Reads (Take and everything built from
// it) cost nothing at run time: they become the Map of an Operand.

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

// TakeOr is the array of shape s whose element i is element index[i] of x, or the
// constant outside where index[i] is -1, as in a window that reaches over the edge
// of x.
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

// Expand broadcasts x to shape s by dimension name; s has all of x's
// dimensions, in any order.
func (b *Builder) Expand(x *Node, s Shape) *Node {
	if anyBad(x) {
		return b.poison
	}
	if slices.Equal(x.shape, s) {
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
