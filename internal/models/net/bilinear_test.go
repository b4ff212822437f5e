package net_test

import (
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// outputOf is a net's output for one record and a length (-1: none), with its weights.
func outputOf(t *testing.T, layers string, x, theta []float64, length int) []float64 {
	t.Helper()
	n := resolve(t, "  n: {input: [t], layers: ["+layers+"]}\n")
	b := graph.NewBuilder()
	call := net.Call{Weight: func(w net.Weight) *graph.Node { return b.Param(w.Name, w.Shape) }}
	if length >= 0 {
		call.Length = b.Const(float64(length))
	}
	y := n.Apply(b, b.Reshape(b.Columns(0, graph.Dim{Name: "(v)", Size: len(x)}), n.Input()), "", call)
	tape, err := graph.Compile(b, nil, []*graph.Node{y}, graph.Options{Columns: len(x)})
	if err != nil {
		t.Fatal(err)
	}
	m := graph.NewMachine(tape, 1)
	m.Globals(theta[:tape.P], nil)
	m.Records(x, len(x), 1, nil)
	return append([]float64(nil), m.Output(0)...)
}

// TestBilinear compares the layer with its definition, in PyTorch's order of weights.
func TestBilinear(t *testing.T) {
	const units, all = 3, 10 // of dim t
	rng := rand.New(rand.NewPCG(8, 1))
	x, theta := normals(all, 1, rng), normals(200, 1, rng)
	for layer, first := range map[string]int{"{bilinear: {units: 3}}": 5, "{bilinear: {units: 3, first: 2}}": 2, "{bilinear: {units: 3, first: 9, bias: false}}": 9} {
		want, second := make([]float64, units), all-first
		for o := range want {
			if first != 9 {
				want[o] = theta[units*first*second+o]
			}
			for i := range first {
				for j := range second {
					want[o] += theta[(o*first+i)*second+j] * x[i] * x[first+j]
				}
			}
		}
		near(t, layer, outputOf(t, layer, x, theta, -1), want)
	}
}

// TestWindowsWithLength compares windows over a sequence with those over its positions that
// count and zeros beyond; a maximum is over the positions that count, 0 without one.
func TestWindowsWithLength(t *testing.T) {
	const all = 10 // dim t
	rng := rand.New(rand.NewPCG(8, 2))
	x, theta := normals(all, 1, rng), normals(20, 1, rng)
	for i := range x {
		x[i] -= 5 // the zeros are larger
	}
	for length := range all + 1 {
		short := append([]float64(nil), x...)
		clear(short[length:])
		for _, layer := range []string{
			"{conv1d: {filters: 2, kernel: 3}}", "{conv1d: {filters: 2, kernel: 4, stride: 2, padding: same}}",
			"{conv1d_transpose: {filters: 2, kernel: 3, stride: 2}}", "{avg_pool1d: {kernel: 3, padding: 1}}",
		} {
			near(t, layer, outputOf(t, layer, x, theta, length), outputOf(t, layer, short, theta, -1))
		}
		for layer, w := range map[string]struct{ kernel, stride, low int }{
			"{max_pool1d: {kernel: 3}}":                        {3, 3, 0},
			"{max_pool1d: {kernel: 4, stride: 1, padding: 2}}": {4, 1, 2},
		} {
			var want []float64
			for first := -w.low; first+w.kernel <= all+w.low; first += w.stride {
				largest := 0.0
				for i := max(0, first); i < min(first+w.kernel, length); i++ {
					if i == max(0, first) || x[i] > largest {
						largest = x[i]
					}
				}
				want = append(want, largest)
			}
			near(t, layer, outputOf(t, layer, x, theta, length), want)
		}
	}
}
