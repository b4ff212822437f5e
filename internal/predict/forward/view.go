package forward

import (
	"slices"

	"d3p/internal/onnx"
)

// view is x with its elements in another order, some left out or repeated. view uses a
// slice, a transposition and an expansion if they suffice, and else picks the elements one
// by one. A nil index means the same order.
func (l *lowering) view(x value, dims []int, index []int32) value {
	if index == nil {
		return l.in(x, dims)
	}
	if v, ok := l.sliced(x, dims, index); ok {
		return v
	}
	if v, ok := l.turned(x, dims, index); ok {
		return v
	}
	at := make([]int, len(index))
	for i, j := range index {
		at[i] = int(j)
	}
	y := l.to.Node("Gather", onnx.Attributes{"axis": 1}, l.perRecord(x, []int{x.size()}), l.to.Ints("places", at, len(at)))
	return l.in(value{name: y, dims: []int{len(at)}}, dims)
}

// sliced is a range of one axis of x.
func (l *lowering) sliced(x value, dims []int, index []int32) (value, bool) {
	inner := 1
	for axis := len(x.dims) - 1; axis >= 0; axis-- {
		size := x.dims[axis]
		outer := x.size() / inner / size
		first := int(index[0])
		if n := len(index) / (outer * inner); n > 0 && n < size && n*outer*inner == len(index) && first%inner == 0 && first < size*inner &&
			affine(index, []int{outer, n * inner}, []int{size * inner, 1}, first) {
			low := first / inner
			y := l.to.Node("Slice", nil, l.perRecord(x, x.dims), l.ints([]int{low}), l.ints([]int{low + n}), l.ints([]int{axis + 1}))
			of := slices.Clone(x.dims)
			of[axis] = n
			return l.in(value{name: y, dims: of}, dims), true
		}
		inner *= size
	}
	return value{}, false
}

// turned is x with its axes in another order and repeated along new ones.
func (l *lowering) turned(x value, dims []int, index []int32) (value, bool) {
	steps, inner := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] > 1 {
			steps[i] = int(index[inner] - index[0])
		}
		inner *= dims[i]
	}
	if index[0] != 0 || !affine(index, dims, steps, 0) {
		return value{}, false
	}
	var order []int // axes that move along x, from the longest step
	for i := range dims {
		if steps[i] > 0 {
			order = append(order, i)
		} else if steps[i] < 0 {
			return value{}, false
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return steps[b] - steps[a] })
	from, want := make([]int, len(order)), 1
	for k := len(order) - 1; k >= 0; k-- {
		if steps[order[k]] != want {
			return value{}, false
		}
		from[k] = dims[order[k]]
		want *= from[k]
	}
	if want != x.size() {
		return value{}, false
	}
	perm, single := []int{0}, ones(len(dims))
	for i := range dims {
		if k := slices.Index(order, i); k >= 0 {
			perm = append(perm, k+1)
			single[i] = dims[i]
		}
	}
	y := value{name: l.perRecord(x, from), dims: from}
	if !slices.IsSorted(perm) {
		y.name = l.to.Node("Transpose", onnx.Attributes{"perm": perm}, y.name)
		y.dims = without(single, nil)
		y.dims = slices.DeleteFunc(y.dims, func(d int) bool { return d == 1 })
	}
	y = l.in(y, single)
	if !slices.Equal(single, dims) {
		y = value{name: l.to.Node("Expand", nil, y.name, l.ints(append([]int{1}, dims...))), dims: dims}
	}
	return y, true
}
