package affine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/graph/affine"
	"d3p/internal/models/graph/graphtest"
)

// spans are those of columns 0 to 2; column 3 has none.
var spans = []affine.Span{{Low: -1, High: 3}, {Low: 0.5, High: 2}, {Low: 0, High: 2}}

func column(j int) (affine.Span, bool) {
	if j >= len(spans) {
		return affine.Span{}, false
	}
	return spans[j], true
}

// scalars are the elements of a vector of parameters.
func scalars(b *graph.Builder, name string, n int) (list []*graph.Node) {
	for i := range n {
		list = append(list, b.Param(name+string(rune('0'+i)), nil))
	}
	return list
}

// Slopes of affine numbers, by parameter, are the least bounds where no term reads a column
// twice.
func TestSlopesAreTheLeastBounds(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node
		want []float64
	}{
		"a sum": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Add(θ[0], b.Mul(x(0), θ[1]))
		}, []float64{1, 3}},
		"a difference": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Sub(x(0), b.Mul(θ[1], b.Const(-2)))
		}, []float64{0, 2}},
		"cancelled": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Add(b.Sub(θ[0], b.Mul(b.Const(3), θ[0])), b.Neg(θ[1]))
		}, []float64{2, 1}},
		"a quotient": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Div(b.Mul(θ[0], x(0)), x(1))
		}, []float64{6, 0}},
		"a square": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Mul(b.Square(b.Sub(x(0), b.Const(2))), θ[0])
		}, []float64{9, 0}},
		"a power": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Mul(b.Exp(b.Neg(x(0))), θ[1])
		}, []float64{0, math.E}},
		"a comparison": {func(b *graph.Builder, θ []*graph.Node, x func(int) *graph.Node) *graph.Node {
			return b.Mul(b.Sub(b.Less(x(0), b.Const(0)), b.Const(0.2)), θ[0])
		}, []float64{0.8, 0}},
	} {
		b := graph.NewBuilder()
		got, ok := affine.Slopes(c.of(b, scalars(b, "θ", 2), b.Column), 2, column)
		if !ok || math.Abs(got[0]-c.want[0])+math.Abs(got[1]-c.want[1]) > 1e-12 {
			t.Errorf("%s: %v, %t, want %v", name, got, ok, c.want)
		}
	}
}

// A matrix of parameters by columns and weights, and the element at a level.
func TestSlopesOfMatrices(t *testing.T) {
	b := graph.NewBuilder()
	k, h := graph.Dim{Name: "k", Size: 2}, graph.Dim{Name: "h", Size: 3}
	θ := b.Param("θ", graph.Shape{k, h})
	byColumns := b.MatMul(b.Stack(k, b.Column(0), b.Column(1)), θ)
	sum := b.Sum(b.Mul(byColumns, b.Stack(h, b.Const(1), b.Const(-2), b.Const(0.5))))
	byLevel := b.Gather(b.MatMul(θ, b.Stack(h, b.Const(1), b.Const(2), b.Const(3))), "k", b.Column(2))
	for _, c := range []struct {
		x    *graph.Node
		code affine.Span // of column 2
		want []float64
	}{
		{sum, spans[2], []float64{3, 6, 1.5, 2, 4, 1}},
		{byLevel, affine.Span{Low: 0, High: 0}, []float64{1, 2, 3, 0, 0, 0}},
		{byLevel, affine.Span{Low: 1, High: 1}, []float64{0, 0, 0, 1, 2, 3}},
		{byLevel, affine.Span{Low: 0, High: 1}, []float64{1, 2, 3, 1, 2, 3}},
	} {
		got, ok := affine.Slopes(c.x, 6, func(j int) (affine.Span, bool) {
			if j == 2 {
				return c.code, true
			}
			return column(j)
		})
		if !ok || !slices.Equal(got, c.want) {
			t.Errorf("%v, %t, want %v", got, ok, c.want)
		}
	}
}

// What is not affine in the parameters, or reads a column without a span, has no slopes.
func TestSlopesOfNoAffineNumber(t *testing.T) {
	for name, of := range map[string]func(b *graph.Builder, θ []*graph.Node) *graph.Node{
		"a product of parameters": func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Mul(θ[0], θ[1]) },
		"a square":                func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Square(θ[0]) },
		"a power":                 func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Exp(θ[0]) },
		"a divisor":               func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Div(b.Const(1), θ[0]) },
		"a divisor near 0":        func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Div(θ[0], b.Column(0)) },
		"a logarithm of 0":        func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Mul(b.Log(b.Column(2)), θ[0]) },
		"a step at a parameter":   func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Less(θ[0], b.Column(0)) },
		"a choice":                func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Max(θ[0], θ[1]) },
		"a column of any number":  func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Mul(b.Column(3), θ[0]) },
	} {
		b := graph.NewBuilder()
		if got, ok := affine.Slopes(of(b, scalars(b, "θ", 2)), 2, column); ok {
			t.Errorf("%s: slopes of at most %v", name, got)
		}
	}
}

// Of random sums of products no record has a longer slope than the bound.
func TestSlopesBoundRandomNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := graph.Dim{Name: "k", Size: 3}
	for i := range 300 {
		factorsOf := func(b *graph.Builder) []*graph.Node { // the same for every builder
			rng, list := rand.New(rand.NewPCG(3, uint64(i))), make([]*graph.Node, d.Size)
			for j := range list {
				list[j] = randomNumber(b, rng, 3)
			}
			return list
		}
		b := graph.NewBuilder()
		factors := factorsOf(b)
		θ := b.Param("θ", graph.Shape{d})
		got, ok := affine.Slopes(b.Sum(b.Mul(b.Stack(d, factors...), θ), "k"), d.Size, column)
		if !ok {
			t.Fatalf("table %d: no bound", i)
		}
		plain := graph.NewBuilder() // without parameters
		rows := make([]float64, 0, 200*len(spans))
		for range 200 {
			for _, s := range spans {
				rows = append(rows, s.Low+(s.High-s.Low)*min(1, max(0, 1.4*rng.Float64()-0.2)))
			}
		}
		for j, values := range graphtest.EvaluateAll(t, plain, factorsOf(plain), rows, len(spans)) {
			if most := max(slices.Max(values), -slices.Min(values)); most > got[j]*(1+1e-9) {
				t.Errorf("table %d: a slope of %g, the bound is %g", i, most, got[j])
			}
		}
	}
}

// randomNumber is an expression of columns.
func randomNumber(b *graph.Builder, rng *rand.Rand, depth int) *graph.Node {
	if depth == 0 {
		return []*graph.Node{b.Column(0), b.Column(1), b.Column(2), b.Const(rng.NormFloat64())}[rng.IntN(4)]
	}
	x, y := randomNumber(b, rng, depth-1), randomNumber(b, rng, depth-1)
	switch rng.IntN(12) {
	case 0:
		return b.Add(x, y)
	case 1:
		return b.Sub(x, y)
	case 2:
		return b.Mul(x, y)
	case 3:
		return b.Div(x, b.Column(1))
	case 4:
		return b.Square(x)
	case 5:
		return b.Abs(x)
	case 6:
		return b.Max(x, y)
	case 7:
		return b.Min(x, y)
	case 8:
		return b.Tanh(x)
	case 9:
		return b.Less(x, y)
	case 10:
		return b.Neg(x)
	default:
		return b.Sqrt(b.Column(1))
	}
}

// A regression's mean is a function of a linear predictor, whatever its spread and its columns
// are. A network's output, and a product of two coefficients, is none.
func TestLinked(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(b *graph.Builder, θ []*graph.Node) *graph.Node
		want bool
	}{
		"a predictor":                 {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Add(θ[0], b.Mul(b.Column(3), θ[1])) }, true},
		"a mean by its logarithm":     {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Exp(b.Mul(b.Column(3), θ[0])) }, true},
		"a rate":                      {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Mul(b.Exp(θ[2]), b.Exp(b.Neg(θ[0]))) }, true},
		"an effect by a spread":       {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Add(θ[0], b.Mul(b.Exp(θ[2]), θ[1])) }, true},
		"over a spread":               {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Div(θ[0], b.Exp(θ[2])) }, true},
		"a spread alone":              {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Lgamma(θ[2]) }, true},
		"a product of coefficients":   {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Mul(θ[0], θ[1]) }, false},
		"a network":                   {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Mul(θ[0], b.Tanh(θ[1])) }, false},
		"a sum of two activations":    {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Add(b.Tanh(θ[0]), b.Tanh(θ[1])) }, false},
		"a square":                    {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Square(θ[0]) }, false},
		"a square behind a logarithm": {func(b *graph.Builder, θ []*graph.Node) *graph.Node { return b.Log(b.Square(θ[0])) }, false},
	} {
		b := graph.NewBuilder()
		x := c.of(b, scalars(b, "θ", 3))
		if got := affine.Linked(x, func(j int) bool { return j < 2 }); got != c.want {
			t.Errorf("%s: linked %t", name, got)
		}
	}
}
