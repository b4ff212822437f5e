package enginetest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// Model is a density whose tape exercises one structure of gradients.
type Model struct {
	Name    string
	Columns []Column
	// Loss is the log density of one record.
	Loss func(b *graph.Builder) *graph.Node
}

// Column draws the cells of one encoded column.
type Column func(rng *rand.Rand) float64

func normalColumn(rng *rand.Rand) float64 { return rng.NormFloat64() }
func binaryColumn(rng *rand.Rand) float64 { return float64(rng.IntN(2)) }
func countColumn(rng *rand.Rand) float64  { return float64(rng.IntN(9)) }
func groupColumn(rng *rand.Rand) float64  { return float64(rng.IntN(groups)) }

const groups = 4

// tableRecords is a prime, so that no chunk divides it.
const tableRecords = 1009

// Tape compiles the model.
func (m Model) Tape(t testing.TB) *graph.Tape {
	t.Helper()
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, m.Loss(b), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// Table draws N = 1009 records of the tape and fills the derived columns.
func (m Model) Table(t testing.TB, tape *graph.Tape, rng *rand.Rand, p privacy.Precision) *privacy.Rows {
	t.Helper()
	stride := tape.K + 1 // a stride that is not the number of columns
	rows := privacy.NewRows(p, tableRecords, tape.K, stride)
	for i := range tableRecords {
		for j, draw := range m.Columns {
			rows.Set(i, j, []float64{draw(rng)})
		}
	}
	if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
		t.Fatal(err)
	}
	return rows
}

// repeat is n columns of one kind.
func repeat(c Column, n int, more ...Column) []Column {
	all := make([]Column, 0, n+len(more))
	for range n {
		all = append(all, c)
	}
	return append(all, more...)
}

// Models lists the densities of the suite.
func Models() []Model {
	return append([]Model{
		{"logistic", repeat(normalColumn, 5, binaryColumn), logistic},
		{"one predictor", repeat(normalColumn, 1, binaryColumn), onePredictor},
		{"linear with a scale", repeat(normalColumn, 4), linear},
		{"group intercepts", repeat(normalColumn, 3, groupColumn, binaryColumn), hierarchical},
		{"tied weights", repeat(normalColumn, 7), tied},
		{"tied group and predictors", repeat(normalColumn, groups, groupColumn), tiedGroup},
		{"paired comparison", []Column{groupColumn, groupColumn, binaryColumn}, pairedComparison},
		{"constant slope per group", repeat(normalColumn, 1, groupColumn), constantSlope},
		{"poisson with exposure", repeat(normalColumn, 2, countColumn), poisson},
		{"mixture", repeat(normalColumn, 2), mixture},
		{"network", repeat(normalColumn, 6, normalColumn), network},
		{"softmax", repeat(normalColumn, 3, groupColumn), softmax},
		{"noise per record", repeat(normalColumn, 3, binaryColumn), perRecordNoise},
		{"intercept among parameters drawn per record", repeat(normalColumn, 2, binaryColumn), drawnIntercept},
		{"noise per step", repeat(normalColumn, 3, binaryColumn), perStepNoise},
	}, slices.Concat(rareModels(), sharedParameterModels(), layerModels())...)
}

func dim(name string, size int) graph.Dim { return graph.Dim{Name: name, Size: size} }

// bernoulli is log p(y) for log odds eta.
func bernoulli(b *graph.Builder, y, eta *graph.Node) *graph.Node {
	return b.Sub(b.Mul(y, eta), b.Softplus(eta))
}

// normalDensity is log N(y; mean, exp(logSD)) up to a constant.
func normalDensity(b *graph.Builder, y, mean, logSD *graph.Node) *graph.Node {
	z := b.Mul(b.Sub(y, mean), b.Exp(b.Neg(logSD)))
	return b.Sub(b.Mul(b.Const(-0.5), b.Square(z)), logSD)
}

func logistic(b *graph.Builder) *graph.Node {
	d := dim("d", 5)
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	return bernoulli(b, b.Column(5), b.Add(eta, b.Param("intercept", nil)))
}

func onePredictor(b *graph.Builder) *graph.Node {
	return bernoulli(b, b.Column(1), b.Mul(b.Column(0), b.Param("w", nil)))
}

func linear(b *graph.Builder) *graph.Node {
	d := dim("d", 3)
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	return normalDensity(b, b.Column(3), eta, b.Param("log_sd", nil))
}

func hierarchical(b *graph.Builder) *graph.Node {
	d, g := dim("d", 3), dim("g", groups)
	u := b.Mul(b.Param("u", graph.Shape{g}), b.Exp(b.Param("log_sd", nil)))
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	z := b.Param("z", graph.Shape{g}) // used through a gather alone
	eta = b.Add(eta, b.Add(b.Gather(u, "g", b.Column(3)), b.Gather(z, "g", b.Column(3))))
	return bernoulli(b, b.Column(4), eta)
}

// tied uses one vector with two blocks of predictors.
func tied(b *graph.Builder) *graph.Node {
	d := dim("d", 3)
	w := b.Param("w", graph.Shape{d})
	one, two := b.MatMul(b.Columns(0, d), w), b.MatMul(b.Columns(3, d), w)
	return normalDensity(b, b.Column(6), b.Add(one, b.Tanh(two)), b.Const(0))
}

// tiedGroup uses one vector through a product and through a gather.
func tiedGroup(b *graph.Builder) *graph.Node {
	g := dim("g", groups)
	w := b.Param("w", graph.Shape{g})
	x := b.MatMul(b.Columns(0, g), w)
	return b.Mul(b.Const(-0.5), b.Square(b.Sub(b.Sigmoid(x), b.Gather(w, "g", b.Column(groups)))))
}

// pairedComparison picks two elements of one vector, at times the same.
// Bradley and Terry 1952.
func pairedComparison(b *graph.Builder) *graph.Node {
	w := b.Param("w", graph.Shape{dim("g", groups)})
	eta := b.Sub(b.Gather(w, "g", b.Column(0)), b.Mul(b.Const(0.5), b.Gather(w, "g", b.Column(1))))
	return bernoulli(b, b.Column(2), eta)
}

// constantSlope has a gradient that does not depend on the picked value: only the term
// itself shows that a group does not exist.
func constantSlope(b *graph.Builder) *graph.Node {
	w := b.Param("w", graph.Shape{dim("g", groups)})
	return b.Mul(b.Column(0), b.Gather(w, "g", b.Column(1)))
}

func poisson(b *graph.Builder) *graph.Node {
	d := dim("d", 2)
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	y := b.Column(2)
	return b.Sub(b.Sub(b.Mul(y, eta), b.Exp(eta)), b.Lgamma(b.Add(y, b.Const(1))))
}

// mixture has K components of D independent normals, marginalised.
func mixture(b *graph.Builder) *graph.Node {
	k, d := dim("k", 3), dim("d", 2)
	shape := graph.Shape{k, d}
	weights := b.LogSoftmax(b.Param("weights", graph.Shape{k}), "k")
	density := normalDensity(b, b.Columns(0, d), b.Param("mean", shape), b.Param("log_sd", shape))
	return b.LogSumExp(b.Add(b.Sum(density, "d"), weights), "k")
}

// network has two hidden layers with biases.
func network(b *graph.Builder) *graph.Node {
	in, h1, h2 := dim("in", 6), dim("h1", 5), dim("h2", 4)
	x := b.Columns(0, in)
	a := b.Softplus(b.Add(b.MatMul(x, b.Param("w1", graph.Shape{in, h1})), b.Param("b1", graph.Shape{h1})))
	a = b.Tanh(b.Add(b.MatMul(a, b.Param("w2", graph.Shape{h1, h2})), b.Param("b2", graph.Shape{h2})))
	out := b.MatMul(a, b.Param("w3", graph.Shape{h2}))
	return normalDensity(b, b.Column(6), out, b.Param("log_sd", nil))
}

// softmax regresses a category: it uses the weights through a product and then picks one
// row.
func softmax(b *graph.Builder) *graph.Node {
	d, g := dim("d", 3), dim("g", groups)
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d, g}))
	return b.Gather(b.LogSoftmax(eta, "g"), "g", b.Column(3))
}

// perRecordNoise draws θ anew for every record.
func perRecordNoise(b *graph.Builder) *graph.Node {
	d := dim("d", 3)
	eta := b.Aux("eta", graph.Shape{d}, true)
	w := b.Add(b.Param("m", graph.Shape{d}), b.Mul(b.Exp(b.Param("log_s", graph.Shape{d})), eta))
	return bernoulli(b, b.Column(3), b.MatMul(b.Columns(0, d), w))
}

// drawnIntercept picks an intercept and coefficients from one vector that is
// drawn anew for every record, and uses it once more in its prior. Adjoints of
// the parts are sums into some elements of the vector: the others are zero,
// whatever was in their memory before.
func drawnIntercept(b *graph.Builder) *graph.Node {
	all, d := graph.Shape{dim("theta", 3)}, graph.Shape{dim("d", 2)}
	mean, logSD := b.Param("m", all), b.Param("log_s", all)
	theta := b.Add(mean, b.Mul(b.Exp(logSD), b.Aux("eta", all, true)))
	intercept, w := b.Take(theta, nil, []int32{0}), b.Take(theta, d, []int32{1, 2})
	loss := bernoulli(b, b.Column(2), b.Add(intercept, b.MatMul(b.Columns(0, d[0]), w)))
	prior := b.Sub(b.Sum(logSD), b.Mul(b.Const(0.5), b.Add(b.Square(intercept), b.Sum(b.Square(w)))))
	return b.Add(loss, b.Mul(b.Const(0.01), prior))
}

// perStepNoise draws θ once for all records.
func perStepNoise(b *graph.Builder) *graph.Node {
	d := dim("d", 3)
	eta := b.Aux("eta", graph.Shape{d}, false)
	w := b.Add(b.Param("m", graph.Shape{d}), b.Mul(b.Exp(b.Param("log_s", graph.Shape{d})), eta))
	return bernoulli(b, b.Column(3), b.MatMul(b.Columns(0, d), w))
}
