package enginetest

import "d3p/internal/models/graph"

// sharedParameterModels are densities in which several places of a record share
// parameters: filters over positions, and embeddings of several items.
func sharedParameterModels() []Model {
	return []Model{
		{"filter, norm by elements", repeat(normalColumn, 12), filter(2, 3, 10)},
		{"filter, norm by Gram matrices", repeat(normalColumn, 12), filter(6, 8, 3)},
		{"filter that is a part of a matrix", repeat(normalColumn, 12), partOfMatrix},
		{"filter as the right factor", repeat(normalColumn, 12), rightFilter},
		{"filter at two scales", repeat(normalColumn, 12), twoScales(3)},
		{"filter at two scales, by Gram matrices", repeat(normalColumn, 12), twoScales(9)},
		{"filter of a filter", repeat(normalColumn, 12), tiedFilters},
		{"items of a record", repeat(groupColumn, 5, binaryColumn), items},
		{"items and a filter", repeat(groupColumn, 3, normalColumn, normalColumn, normalColumn), itemsAndFilter},
		{"two sets of items", repeat(groupColumn, 5, binaryColumn), twoSets},
	}
}

// windows are taps values from each of places positions of the columns.
func windows(b *graph.Builder, columns, taps, places int) *graph.Node {
	x := b.Columns(0, dim("x", columns))
	index := make([]int32, 0, taps*places)
	for t := range taps {
		for p := range places {
			index = append(index, int32((t+p)%columns))
		}
	}
	return b.Take(x, graph.Shape{dim("tap", taps), dim("place", places)}, index)
}

// filter has a filter of `taps` taps and `outputs` outputs at `places` places.
func filter(taps, outputs, places int) func(b *graph.Builder) *graph.Node {
	return func(b *graph.Builder) *graph.Node {
		f, t := dim("f", outputs), dim("tap", taps)
		y := b.MatMul(b.Param("w", graph.Shape{f, t}), windows(b, 12, taps, places))
		y = b.Relu(b.Add(y, b.Param("bias", graph.Shape{f})))
		return b.Neg(b.Square(b.Sub(b.Mean(y), b.Column(0))))
	}
}

// rightFilter multiplies from the right, so that its parameters are ordered the
// other way.
func rightFilter(b *graph.Builder) *graph.Node {
	f, t := dim("f", 5), dim("tap", 4)
	x := b.Transpose(windows(b, 12, 4, 7))
	return b.Neg(b.Mean(b.Square(b.Tanh(b.MatMul(x, b.Param("w", graph.Shape{t, f}))))))
}

// partOfMatrix has a filter whose parameters are not neighbours.
func partOfMatrix(b *graph.Builder) *graph.Node {
	w := b.SliceRange(b.Param("w", graph.Shape{dim("f", 4), dim("all", 6)}), "all", 1, 4, "tap")
	return b.Neg(b.Mean(b.Square(b.Tanh(b.MatMul(w, windows(b, 12, 3, 10))))))
}

// twoScales uses one filter of `taps` taps at 3 places and at 2.
func twoScales(taps int) func(b *graph.Builder) *graph.Node {
	return func(b *graph.Builder) *graph.Node {
		w := b.Param("w", graph.Shape{dim("f", 5), dim("tap", taps)})
		fine := b.Tanh(b.MatMul(w, windows(b, 12, taps, 3)))
		coarse := b.MatMul(w, b.Sin(windows(b, 12, taps, 2)))
		return b.Neg(b.Square(b.Sub(b.Sum(fine), b.Mean(coarse))))
	}
}

// tiedFilters applies a square filter twice, at places and then once to their
// sum.
func tiedFilters(b *graph.Builder) *graph.Node {
	w := b.Param("w", graph.Shape{dim("f", 4), dim("tap", 4)})
	y := b.Tanh(b.MatMul(w, windows(b, 12, 4, 6)))
	return b.Sum(b.Tanh(b.MatMul(w, b.Sum(y, "place"))))
}

// chosen are the items of a record: its first columns.
func chosen(b *graph.Builder, name string, first, n int) *graph.Node {
	parts := make([]*graph.Node, n)
	for i := range parts {
		parts[i] = b.Column(first + i)
	}
	return b.Stack(dim(name, n), parts...)
}

// items regresses on the embeddings of items. A record may have an item twice.
func items(b *graph.Builder) *graph.Node {
	table := b.Param("table", graph.Shape{dim("g", groups), dim("e", 3)})
	y := b.Tanh(b.Gather(table, "g", chosen(b, "item", 0, 5)))
	weights := b.Consts(graph.Shape{dim("item", 5)}, []float64{1, -0.5, 2, 0.3, 1})
	return bernoulli(b, b.Column(5), b.Sum(b.Mul(y, weights)))
}

// itemsAndFilter uses the table of the items as a filter too.
func itemsAndFilter(b *graph.Builder) *graph.Node {
	table := b.Param("table", graph.Shape{dim("g", groups), dim("e", 3)})
	y := b.Sum(b.Gather(table, "g", chosen(b, "item", 0, 3)), "item")
	x := b.Take(b.Columns(3, dim("x", 3)), graph.Shape{dim("tap", 3), dim("place", 2)}, []int32{0, 1, 1, 2, 2, 0})
	return b.Neg(b.Square(b.Add(b.Sum(y), b.Sum(b.Tanh(b.MatMul(table, x))))))
}

// twoSets compares two sets of items.
func twoSets(b *graph.Builder) *graph.Node {
	table := b.Param("table", graph.Shape{dim("g", groups), dim("e", 3)})
	one := b.Sum(b.Gather(table, "g", chosen(b, "one", 0, 2)), "one")
	two := b.Sum(b.Tanh(b.Gather(table, "g", chosen(b, "two", 2, 3))), "two")
	return bernoulli(b, b.Column(5), b.Sum(b.Mul(one, two)))
}
