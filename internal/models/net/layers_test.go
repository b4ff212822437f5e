package net_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// near compares an output with what its definition gives.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// standardised is (x − mean)/√(variance + ε) of every block of x.
func standardised(x []float64, block int, epsilon float64) []float64 {
	y := make([]float64, len(x))
	for first := 0; first < len(x); first += block {
		v := x[first : first+block]
		mean, square := 0.0, 0.0
		for _, a := range v {
			mean += a / float64(block)
		}
		for _, a := range v {
			square += (a - mean) * (a - mean) / float64(block)
		}
		for i, a := range v {
			y[first+i] = (a - mean) / math.Sqrt(square+epsilon)
		}
	}
	return y
}

// TestNormalisation checks the blocks that layers normalise over, and that of
// the weights that scale, with the channels of an image 4 × 5 × 4.
func TestNormalisation(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x := normals(4*5*4, 2, rng)
	for _, test := range []struct {
		layer          string
		block, weights int
		epsilon        float64
		of             func(i int) int // weight of value i
	}{
		{"layer_norm", 80, 80, 1e-5, func(i int) int { return i }},
		{"{layer_norm: {trailing: 2}}", 20, 20, 1e-5, func(i int) int { return i % 20 }},
		{"{layer_norm: {trailing: 1, epsilon: 0.3}}", 4, 4, 0.3, func(i int) int { return i % 4 }},
		{"{group_norm: {groups: 2}}", 40, 4, 1e-5, func(i int) int { return i / 20 }},
		{"{group_norm: {groups: 1, affine: false}}", 80, 0, 1e-5, nil},
		{"instance_norm", 20, 0, 1e-5, nil},
		{"{instance_norm: {affine: true}}", 20, 4, 1e-5, func(i int) int { return i / 20 }},
	} {
		n := resolve(t, "  n: {input: [k, y, x], layers: ["+test.layer+"]}\n")
		var theta []float64
		y, _ := forward(t, n, func(p int) []float64 { theta = normals(p, 1, rng); return theta }, x)
		if len(theta) != 2*test.weights {
			t.Errorf("%s: %d weights, want %d", test.layer, len(theta), 2*test.weights)
			continue
		}
		want := standardised(x, test.block, test.epsilon)
		for i := range want {
			if test.weights > 0 {
				want[i] = want[i]*theta[test.of(i)] + theta[test.weights+test.of(i)]
			}
		}
		near(t, test.layer, y, want)
		if test.weights > 0 && (n.Weights[0].Mean != 1 || n.Weights[0].SD != 0 || n.Weights[1].Mean != 0) {
			t.Errorf("%s: starts at %v", test.layer, n.Weights)
		}
	}
}

// TestPooling checks windows with padding against numbers worked out by hand:
// the maximum leaves padding out, the mean counts it as zeros.
func TestPooling(t *testing.T) {
	x := []float64{-1, -2, -3, -4, -5, -6} // 2 × 3
	for settings, want := range map[string][]float64{
		"max_pool2d: {kernel: 2}":                             {-1},
		"max_pool2d: {kernel: 2, stride: 1}":                  {-1, -2},
		"max_pool2d: {kernel: 2, padding: same}":              {-1, -3},
		"max_pool2d: {kernel: [1, 3], stride: 1, padding: 1}": {},
		"avg_pool2d: {kernel: 2, padding: same}":              {-3, -9.0 / 4},
		"avg_pool2d: {kernel: 3, stride: 2, padding: 1}":      {-12.0 / 9, -16.0 / 9},
	} {
		if len(want) == 0 { // a place would see only padding
			if _, errs := net.Resolve(parse(t, "  n: {input: [h, w], layers: [{"+settings+"}]}\n").Nets[0], dims(1)); len(errs) != 1 {
				t.Errorf("%s: %v", settings, errs)
			}
			continue
		}
		y, _ := forward(t, resolve(t, "  n: {input: [h, w], layers: [{"+settings+"}]}\n"), weightless, x)
		near(t, settings, y, want)
	}
	y, _ := forward(t, resolve(t, "  n: {input: [h, w], layers: [global_avg_pool]}\n"), weightless, x)
	near(t, "global_avg_pool", y, []float64{-2, -5})
}

// TestEmbedding checks which row of the table a level has, and where it goes.
func TestEmbedding(t *testing.T) {
	n := resolve(t, "  n: {input: [w], layers: [{embedding: {levels: 4, units: 2}}]}\n")
	table := []float64{0, 1, 10, 11, 20, 21, 30, 31}
	y, shape := forward(t, n, func(int) []float64 { return table }, []float64{3, 0, 3})
	near(t, "embedding", y, []float64{30, 0, 30, 31, 1, 31})
	if shape.String() != "[n.embedding1 2, w 3]" || n.Weights[0].SD != 1 {
		t.Errorf("output %v, weights %v", shape, n.Weights)
	}
}

// TestResidual checks x + f(x) and s(x) + f(x).
func TestResidual(t *testing.T) {
	x := []float64{1, -2}
	y, _ := forward(t, resolve(t, "  n: {input: [h], layers: [{residual: {layers: [relu], activation: exp}}]}\n"), weightless, x)
	near(t, "residual", y, []float64{math.Exp(2), math.Exp(-2)})
	y, _ = forward(t, resolve(t, "  n: {input: [h], layers: [{residual: {layers: [relu], shortcut: [exp]}}]}\n"), weightless, x)
	near(t, "shortcut", y, []float64{math.E + 1, math.Exp(-2)})
	_, errs := net.Resolve(parse(t, "  n: {input: [h], layers: [{residual: {layers: [{dense: {units: 3}}]}}]}\n").Nets[0], dims(1))
	if len(errs) != 1 {
		t.Errorf("a sum of 2 and 3 values: %v", errs)
	}
}

func weightless(int) []float64 { return nil }

// TestDropout checks that values are dropped at the rate, that the kept values are divided
// by 1 - rate, and that nothing is dropped without noise.
func TestDropout(t *testing.T) {
	const draws = 20000
	n := resolve(t, "  n: {input: [h], layers: [{dropout: {rate: 0.3}}]}\n")
	b := graph.NewBuilder()
	out := output(n, b, b.Columns(0, graph.Dim{Name: "(v)", Size: 2}), "")
	tape, err := graph.Compile(b, nil, []*graph.Node{out}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, rows := graph.NewMachine(tape, draws), make([]float64, 2*draws)
	for i := range rows {
		rows[i] = 7
	}
	m.Globals(nil, nil)
	m.Records(rows, 2, draws, normals(tape.AuxRecord*draws, 1, rand.New(rand.NewPCG(6, 6))))
	dropped := 0
	for _, y := range m.Output(0) {
		switch {
		case y == 0:
			dropped++
		case math.Abs(y-7/0.7) > 1e-12:
			t.Fatalf("a value of 7 becomes %v", y)
		}
	}
	// P(|dropped − 0.3 N| > 6.11 sd) < 1e-9
	if sd := math.Sqrt(0.3 * 0.7 * 2 * draws); math.Abs(float64(dropped)-0.3*2*draws) > 6.11*sd {
		t.Errorf("%d of %d values dropped", dropped, 2*draws)
	}
	x := b.Columns(0, graph.Dim{Name: "h", Size: 2})
	if y := n.Apply(b, x, "", net.Call{}); y != x {
		t.Errorf("without noise %v becomes %v", x, y)
	}
}
