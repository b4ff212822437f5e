package net_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// forward runs a net without heads on one record.
func forward(t *testing.T, n *net.Net, theta func(p int) []float64, x []float64) (y []float64, shape graph.Shape) {
	t.Helper()
	b := graph.NewBuilder()
	out := output(n, b, b.Columns(0, graph.Dim{Name: "(v)", Size: len(x)}), "")
	tape, err := graph.Compile(b, nil, []*graph.Node{out}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := graph.NewMachine(tape, 1)
	m.Globals(theta(tape.P), nil)
	m.Records(x, len(x), 1, nil)
	return m.Output(0), out.Shape()
}

// TestConvolution checks a convolution against its definition, with strides,
// padding and two channels.
func TestConvolution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for _, test := range []struct {
		settings           string
		stride, low        [2]int
		kernel, in, places [2]int
	}{
		{"kernel: 3", [2]int{1, 1}, [2]int{0, 0}, [2]int{3, 3}, [2]int{5, 4}, [2]int{3, 2}},
		{"kernel: [3, 2], stride: 2, padding: same", [2]int{2, 2}, [2]int{1, 0}, [2]int{3, 2}, [2]int{5, 4}, [2]int{3, 2}},
		{"kernel: 3, stride: [1, 2], padding: 1", [2]int{1, 2}, [2]int{1, 1}, [2]int{3, 3}, [2]int{5, 4}, [2]int{5, 2}},
		{"kernel: 4, padding: same", [2]int{1, 1}, [2]int{1, 1}, [2]int{4, 4}, [2]int{5, 4}, [2]int{5, 4}},
	} {
		const channels, filters = 2, 3
		n := resolve(t, "  n: {input: [c, y, x], layers: [{conv2d: {filters: 3, "+test.settings+"}}]}\n")
		x := normals(channels*test.in[0]*test.in[1], 1, rng)
		var w []float64
		y, shape := forward(t, n, func(p int) []float64 { w = normals(p, 1, rng); return w }, x)
		if shape.Size() != filters*test.places[0]*test.places[1] {
			t.Errorf("%s: output %v, want %v places", test.settings, shape, test.places)
			continue
		}
		taps := test.kernel[0] * test.kernel[1]
		bias := w[filters*channels*taps:]
		i := 0
		for f := range filters {
			for py := range test.places[0] {
				for px := range test.places[1] {
					want := bias[f]
					for c := range channels {
						for ky := range test.kernel[0] {
							for kx := range test.kernel[1] {
								iy, ix := py*test.stride[0]-test.low[0]+ky, px*test.stride[1]-test.low[1]+kx
								if iy < 0 || ix < 0 || iy >= test.in[0] || ix >= test.in[1] {
									continue
								}
								want += w[((f*channels+c)*test.kernel[0]+ky)*test.kernel[1]+kx] * x[(c*test.in[0]+iy)*test.in[1]+ix]
							}
						}
					}
					if math.Abs(y[i]-want) > 1e-12 {
						t.Errorf("%s: output (%d, %d, %d) is %v, want %v", test.settings, f, py, px, y[i], want)
					}
					i++
				}
			}
		}
	}
}

// TestTransposedIsTheAdjoint checks that conv2d_transpose is the adjoint of
// conv2d with the same filters: ⟨conv(x), y⟩ = ⟨x, transposed(y)⟩.
func TestTransposedIsTheAdjoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	for _, test := range []struct {
		settings           string
		large, small       string
		largeSize, smaller int
	}{
		{"kernel: 3", "[2, 7, 5]", "[3, 5, 3]", 70, 45},
		{"kernel: [3, 2], stride: 2, padding: same", "[2, 6, 8]", "[3, 3, 4]", 96, 36},
		{"kernel: 3, stride: 2, padding: 1", "[2, 7, 5]", "[3, 4, 3]", 70, 36},
		{"kernel: 1, stride: 2, padding: same", "[2, 6, 8]", "[3, 3, 4]", 96, 36},
		{"kernel: 4, stride: 2, padding: same", "[2, 6, 8]", "[3, 3, 4]", 96, 36}, // a place before the first
	} {
		reshaped := func(size int, shape, layer string) *net.Net {
			return resolveAt(t, size, "  n: {input: [all], layers: [{reshape: {shape: "+shape+"}}, {"+layer+test.settings+"}}]}\n")
		}
		weights := normals(3*2*16, 1, rng) // both order them alike
		of := func(p int) []float64 { return weights[:p] }
		x, y := normals(test.largeSize, 1, rng), normals(test.smaller, 1, rng)
		cx, _ := forward(t, reshaped(len(x), test.large, "conv2d: {filters: 3, bias: false, "), of, x)
		ty, _ := forward(t, reshaped(len(y), test.small, "conv2d_transpose: {filters: 2, bias: false, "), of, y)
		if len(cx) != len(y) || len(ty) != len(x) {
			t.Errorf("%s: %d and %d values, want %d and %d", test.settings, len(cx), len(ty), len(y), len(x))
			continue
		}
		if left, right := dot(cx, y), dot(ty, x); math.Abs(left-right) > 1e-10 {
			t.Errorf("%s: ⟨conv(x), y⟩ = %v, ⟨x, transposed(y)⟩ = %v", test.settings, left, right)
		}
	}
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// A kernel as deep as the image makes a convolution along three axes one along two, with
// the depth as channels; its adjoint likewise.
func TestConvolutionOfVolumes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x := normals(3*5*4, 1, rng)
	var w []float64
	draw := func(p int) []float64 { w = normals(p, 1, rng); return w }
	again := func(int) []float64 { return w }
	got, shape := forward(t, resolve(t, "  n: {input: [w, y, x], layers: [{conv3d: {filters: 2, kernel: [3, 2, 3], stride: [1, 2, 1]}}]}\n"), draw, x)
	want, _ := forward(t, resolve(t, "  n: {input: [w, y, x], layers: [{conv2d: {filters: 2, kernel: [2, 3], stride: [2, 1]}}]}\n"), again, x)
	if len(shape) != 4 || shape[1].Size != 1 {
		t.Errorf("the output is %v, want one layer of depth", shape)
	}
	near(t, "conv3d", got, want)

	// [filter, z, y, x] from depth 1 is [filter and z, y, x] of the flat one, but for the bias
	flat := normals(5*4, 1, rng)
	got, _ = forward(t, resolve(t, "  n: {input: [y, x], layers: [{reshape: {shape: [1, 5, 4]}}, {conv3d_transpose: {filters: 2, kernel: [3, 2, 3], bias: false}}]}\n"), draw, flat)
	want, _ = forward(t, resolve(t, "  n: {input: [y, x], layers: [{conv2d_transpose: {filters: 6, kernel: [2, 3], bias: false}}]}\n"), again, flat)
	near(t, "conv3d_transpose", got, want)
}
