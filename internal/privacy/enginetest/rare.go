package enginetest

import "d3p/internal/models/graph"

// rareModels have features that the other models lack: many predictors, special functions
// of records and of parameters, products of parameters, weights that lie apart in memory,
// and gradients or tables that are large for one record.
func rareModels() []Model {
	return []Model{
		{"many predictors", repeat(normalColumn, manyPredictors, binaryColumn, normalColumn), manyLinear},
		{"special functions", repeat(normalColumn, 2, countColumn), special},
		{"product of parameters per group", repeat(normalColumn, 3, groupColumn), productPerGroup},
		{"weights that lie apart", repeat(normalColumn, 9, normalColumn), apart},
		{"wide embedding", repeat(groupColumn, 3), wideEmbedding},
		{"gradient without structure", repeat(normalColumn, triangle, groupColumn), unstructured},
	}
}

// manyPredictors is more than an engine may treat as few, and no multiple of a vector's
// length.
const manyPredictors = 37

// manyLinear has one product of many predictors with a vector and two with matrices,
// one of them with the predictors in its rows.
func manyLinear(b *graph.Builder) *graph.Node {
	d, h := dim("d", manyPredictors), dim("h", 2)
	x := b.Columns(0, d)
	eta := b.MatMul(x, b.Param("w", graph.Shape{d}))
	one := b.Tanh(b.MatMul(x, b.Param("down", graph.Shape{d, h})))
	two := b.Tanh(b.MatMul(b.Param("across", graph.Shape{h, d}), x))
	mean := b.Add(b.Sum(one), b.Mul(b.Const(0.5), b.Sum(two)))
	return b.Add(bernoulli(b, b.Column(manyPredictors), eta), normalDensity(b, b.Column(manyPredictors+1), mean, b.Param("log_sd", nil)))
}

// special is a negative binomial count, whose size leads to gamma functions of a parameter
// and of records, and to the tail of a gamma law.
func special(b *graph.Builder) *graph.Node {
	d := dim("d", 2)
	y, size := b.Column(2), b.Exp(b.Param("log_size", nil))
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	counts := b.Sub(b.Lgamma(b.Add(y, size)), b.Lgamma(size))
	counts = b.Add(counts, b.Sub(b.Mul(y, eta), b.Mul(b.Add(y, size), b.Softplus(eta))))
	shape := b.Add(size, b.Exp(eta))
	tail := b.LogGammaQ(shape, b.Add(y, b.Const(0.5)))
	return b.Add(counts, b.Mul(b.Const(0.1), b.Add(tail, b.Pow(b.Add(y, b.Const(1)), b.Tanh(eta)))))
}

// productPerGroup picks a row of a product of two parameters, and an element of one
// with a vector.
func productPerGroup(b *graph.Builder) *graph.Node {
	d, g, k := dim("d", 3), dim("g", groups), dim("k", 2)
	z := b.Param("z", graph.Shape{g, k})
	slopes := b.MatMul(z, b.Param("l", graph.Shape{k, d}))
	level := b.MatMul(z, b.Param("u", graph.Shape{k}))
	eta := b.Add(b.MatMul(b.Columns(0, d), b.Gather(slopes, "g", b.Column(3))), b.Gather(level, "g", b.Column(3)))
	return b.Neg(b.Softplus(eta))
}

// apart uses one half of each of three arrays, split along the inner or the middle
// dimension.
func apart(b *graph.Builder) *graph.Node {
	d, h, k, half := dim("d", 9), dim("h", 11), dim("k", 3), dim("half", 2)
	x, inner := b.Columns(0, d), graph.Shape{d, h, half}
	mean := b.Tanh(b.MatMul(x, b.Slice(b.Param("w", inner), "half", 0)))
	scale := b.Sigmoid(b.MatMul(x, b.Slice(b.Param("v", inner), "half", 1)))
	more := b.Tanh(b.MatMul(b.Slice(b.Param("u", graph.Shape{k, half, d}), "half", 1), x))
	return normalDensity(b, b.Column(9), b.Add(b.Sum(b.Mul(mean, scale)), b.Sum(more)), b.Const(0))
}

// wideEmbedding looks up long rows of one table for several columns.
func wideEmbedding(b *graph.Builder) *graph.Node {
	g, k := dim("g", groups), dim("k", 24)
	table := b.Param("table", graph.Shape{g, k})
	y := b.Gather(table, "g", b.Columns(0, dim("t", 3)))
	return b.Neg(b.Sum(b.Square(b.Tanh(y))))
}

// unstructured uses numbers through a triangle that is made of them, and a matrix
// through a function of every element with a record's number: neither gradient is
// less than one value for each.
func unstructured(b *graph.Builder) *graph.Node {
	d, e, h := dim("d", triangle), dim("e", triangle), dim("h", 12)
	x := b.Columns(0, d)
	var cells []int32
	for i := range int32(triangle) {
		for j := range i + 1 {
			cells = append(cells, i*triangle+j)
		}
	}
	lower := b.Place(b.Tanh(b.Param("l", graph.Shape{dim("cells", len(cells))})), graph.Shape{e, d}, cells)
	bent := b.Tanh(b.Mul(b.Param("w", graph.Shape{d, h}), b.Column(0)))
	picked := b.Gather(b.Sum(bent, "h"), "d", b.Sub(b.Column(triangle), b.Const(1))) // outside for one group
	return b.AddAll(b.Sum(b.Tanh(b.MatMul(lower, x))), b.Sum(b.Sigmoid(b.MatMul(x, bent))), picked)
}

// triangle is the size of a matrix with more elements than an engine may write out.
const triangle = 7
