package dist

import (
	"math"
	"testing"

	"d3p/internal/models/dist/categories"
	"d3p/internal/models/dist/continuous"
	"d3p/internal/models/dist/counts"
	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
	"d3p/internal/models/support"
	"d3p/internal/stattest"
)

// A mixture of two kinds of people: a count, a category and a number that may
// be missing.
func mixedTable(b *graph.Builder) (Mixture, graph.Shape) {
	k := graph.Dim{Name: "k", Size: 2}
	vec := func(v ...float64) *graph.Node { return b.Consts(graph.Shape{k}, v) }
	levels := b.Consts(graph.Shape{k, {Name: "level", Size: 3}}, []float64{0.7, 0.2, 0.1, 0.1, 0.1, 0.8})
	joint := Joint{Over: "feature", Parts: []Density{
		Apply(b, &counts.Poisson, []*graph.Node{vec(2, 9), nil}),
		Apply(b, &categories.Categorical, []*graph.Node{levels, nil}),
		Missing{P: vec(0.1, 0.6), Base: Apply(b, &continuous.Normal, []*graph.Node{vec(-1, 3), nil})},
	}}
	return Mixture{Weights: vec(0.4, 0.6), Component: joint, Over: "k"}, graph.Shape{{Name: "feature", Size: 3}}
}

func TestJoint(t *testing.T) {
	b := graph.NewBuilder()
	m, shape := mixedTable(b)
	if err := m.Fits(shape); err != nil {
		t.Fatal(err)
	}
	supports := ElementSupports(m, 3)
	if supports[0].Kind != support.Count || supports[1].Kind != support.Category || supports[2].Kind != support.Real {
		t.Errorf("supports are %v", supports)
	}
	x := Observed{X: b.Columns(0, shape[0]), Missing: b.Columns(3, shape[0])}
	got := graphtest.Evaluate(t, b, m.LogDensity(b, x), []float64{4, 2, 0.5, 0, 0, 0, 4, 2, 77, 0, 0, 1}, 6)
	count := func(rate float64) float64 { return math.Pow(rate, 4) * math.Exp(-rate) / 24 }
	number := func(loc float64) float64 { return math.Exp(-(0.5-loc)*(0.5-loc)/2) / math.Sqrt(2*math.Pi) }
	want := []float64{
		math.Log(0.4*count(2)*0.1*0.9*number(-1) + 0.6*count(9)*0.8*0.4*number(3)),
		math.Log(0.4*count(2)*0.1*0.1 + 0.6*count(9)*0.8*0.6),
	}
	for i := range want {
		if !graphtest.Near(got[i], want[i], 1e-13) {
			t.Errorf("log densities are %v, want %v", got, want)
		}
	}
	for _, bad := range []graph.Shape{nil, {{Name: "feature", Size: 2}}, {{Name: "other", Size: 3}}} {
		if m.Fits(bad) == nil {
			t.Errorf("fits %v", bad)
		}
	}
}

// All elements of a draw come from one component, with the right frequencies.
func TestJointSampler(t *testing.T) {
	b := graph.NewBuilder()
	m, shape := mixedTable(b)
	var values [][]float64
	for _, n := range m.Inputs() {
		values = append(values, graphtest.Evaluate(t, b, n, []float64{0}, 1))
	}
	draw, rng := m.Sampler(shape), newRand(9)
	pairs := make([]int, 6) // category times whether the number is missing
	var counts []float64
	dst := make([]float64, 3)
	for range draws {
		draw(dst, values, rng)
		i := 2 * int(dst[1])
		if math.IsNaN(dst[2]) {
			i++
		}
		pairs[i]++
		counts = append(counts, dst[0])
	}
	var expected []float64
	for level := range 3 {
		a, c := 0.4*[]float64{0.7, 0.2, 0.1}[level], 0.6*[]float64{0.1, 0.1, 0.8}[level]
		expected = append(expected, draws*(a*0.9+c*0.4), draws*(a*0.1+c*0.6))
	}
	stattest.Require(t, "categories and missing numbers", stattest.ChiSquare(pairs, expected))
	stattest.Require(t, "counts", meanTest(counts, 0.4*2+0.6*9))
}
