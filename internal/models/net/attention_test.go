package net_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// attentionByHand is multi-head attention of x [position][channel] with PyTorch's
// weights; a position attends to keys before count and, if causal, not after itself.
func attentionByHand(theta []float64, x [][]float64, heads, count int, causal bool) [][]float64 {
	size := len(x[0])
	w, c := theta[:3*size*size], theta[3*size*size:3*size*size+3*size]
	wo, co := theta[3*size*size+3*size:][:size*size], theta[4*size*size+3*size:]
	part := func(k int, v []float64) []float64 { // of query, key and value
		y := make([]float64, size)
		for i := range y {
			y[i] = product(w, k*size+i, v) + c[k*size+i]
		}
		return y
	}
	width := size / heads
	out := make([][]float64, len(x))
	for t := range x {
		joined := make([]float64, size)
		for h := range heads {
			q, weights, total := part(0, x[t])[h*width:][:width], make([]float64, len(x)), 0.0
			for s := range x {
				if s >= count || causal && s > t {
					continue
				}
				k, score := part(1, x[s])[h*width:][:width], 0.0
				for i := range q {
					score += q[i] * k[i] / math.Sqrt(float64(width))
				}
				weights[s] = math.Exp(score)
				total += weights[s]
			}
			for s := range x {
				v := part(2, x[s])[h*width:][:width]
				for i := range v {
					joined[h*width+i] += weights[s] / total * v[i]
				}
			}
		}
		for i := range size {
			out[t] = append(out[t], product(wo, i, joined)+co[i])
		}
	}
	return out
}

// TestAttention compares attention with its definition.
func TestAttention(t *testing.T) {
	const positions, channels = 10, 4 // dims t, k
	rng := rand.New(rand.NewPCG(5, 6))
	for _, heads := range []int{1, 2, 4} {
		for _, causal := range []bool{false, true} {
			for _, length := range []int{-1, 1, 7, positions} {
				settings := map[bool]string{false: "", true: ", causal: true"}[causal]
				n := resolve(t, "  n: {input: [k, t], layers: [{multi_head_attention: {heads: "+string(rune('0'+heads))+settings+"}}]}\n")
				b := graph.NewBuilder()
				call := net.Call{Weight: func(w net.Weight) *graph.Node { return b.Param(w.Name, w.Shape) }}
				x := normals(channels*positions+1, 1, rng)
				count := positions
				if length >= 0 {
					count, x[channels*positions] = length, float64(length)
					call.Length = b.Column(channels * positions)
				}
				in := b.Reshape(b.Columns(0, graph.Dim{Name: "(v)", Size: channels * positions}), n.Input())
				tape, err := graph.Compile(b, nil, []*graph.Node{n.Apply(b, in, "", call)}, graph.Options{Columns: len(x)})
				if err != nil {
					t.Fatal(err)
				}
				theta, values := normals(tape.P, 0.7, rng), make([][]float64, positions)
				for p := range values {
					for c := range channels {
						values[p] = append(values[p], x[c*positions+p])
					}
				}
				m := graph.NewMachine(tape, 1)
				m.Globals(theta, nil)
				m.Records(x, len(x), 1, nil)
				var want []float64
				for c := range channels {
					for _, y := range attentionByHand(theta, values, heads, count, causal) {
						want = append(want, y[c])
					}
				}
				near(t, "attention", m.Output(0), want)
			}
		}
	}
}

// TestTransformer checks that a causal block has no gradient of later positions, that
// its weights have one term each and that its parts have the right shapes.
func TestTransformer(t *testing.T) {
	n := resolve(t, "  n: {input: [k, t], layers: [{transformer: {heads: 2, units: 6, depth: 2, causal: true}}]}\n")
	rng := rand.New(rand.NewPCG(9, 6))
	x := normals(40, 1, rng)
	theta := func(p int) []float64 { return normals(p, 0.5, rand.New(rand.NewPCG(1, 1))) }
	before, shape := forward(t, n, theta, x)
	if shape.String() != "[k 4, t 10]" {
		t.Errorf("output %v", shape)
	}
	x[7] += 3 // position 7 of the first channel
	after, _ := forward(t, n, theta, x)
	for i := range before {
		if earlier := i%10 < 7; earlier != (before[i] == after[i]) {
			t.Errorf("value %d: %v becomes %v", i, before[i], after[i])
		}
	}
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, lossOf(b, output(n, b, b.Columns(0, graph.Dim{Name: "(v)", Size: 40}), "")), nil, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tape.Terms) != len(n.Weights) || len(tape.Cross) > 0 || len(tape.Notes) > 0 {
		t.Errorf("%d terms for %d arrays of weights, %d pairs, notes %v", len(tape.Terms), len(n.Weights), len(tape.Cross), tape.Notes)
	}
	if n := len(n.Weights); n != 2*(1+4+1+4) {
		t.Errorf("%d arrays of weights", n)
	}
}

// TestRMSNorm checks rms_norm and positions against their definitions.
func TestRMSNorm(t *testing.T) {
	x := []float64{1, 2, -2, 3, 0, 4} // 2 channels at 3 positions
	n := resolve(t, "  n: {input: [h, w], layers: [{rms_norm: {epsilon: 0.5}}]}\n")
	y, _ := forward(t, n, func(int) []float64 { return []float64{2, -1} }, x)
	var want []float64
	for i, v := range x {
		scale := math.Sqrt((x[i%3]*x[i%3]+x[i%3+3]*x[i%3+3])/2 + 0.5)
		want = append(want, []float64{2, -1}[i/3]*v/scale)
	}
	near(t, "rms_norm", y, want)
	y, _ = forward(t, resolve(t, "  n: {input: [h, w], layers: [positions]}\n"), func(int) []float64 { return []float64{1, 2, 3, 4, 5, 6} }, x)
	near(t, "positions", y, []float64{2, 4, 1, 7, 5, 10})
}
