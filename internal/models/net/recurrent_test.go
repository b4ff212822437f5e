package net_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/difference"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// cellWeights are the weights of one cell in the order of the parameters.
type cellWeights struct{ ih, hh, bias, own []float64 }

// take cuts the weights of a cell with some gates off theta.
func take(theta *[]float64, gates, in, units int, own bool) (w cellWeights) {
	cut := func(n int) []float64 {
		v := (*theta)[:n]
		*theta = (*theta)[n:]
		return v
	}
	w.ih, w.hh, w.bias = cut(gates*units*in), cut(gates*units*units), cut(gates*units)
	if own {
		w.own = cut(units)
	}
	return w
}

// product is row r of a matrix times x.
func product(m []float64, r int, x []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += m[r*len(x)+i] * v
	}
	return s
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// cellsByHand are the equations of PyTorch's manual for RNN, GRU and LSTM: the next
// output and memory of one unit.
var cellsByHand = map[string]struct {
	gates int
	own   bool
	next  func(w cellWeights, u, units int, x, h []float64, c float64) (float64, float64)
}{
	"rnn": {1, false, func(w cellWeights, u, _ int, x, h []float64, _ float64) (float64, float64) {
		return math.Tanh(product(w.ih, u, x) + w.bias[u] + product(w.hh, u, h)), 0
	}},
	"gru": {3, true, func(w cellWeights, u, units int, x, h []float64, _ float64) (float64, float64) {
		r := sigmoid(product(w.ih, u, x) + w.bias[u] + product(w.hh, u, h))
		z := sigmoid(product(w.ih, units+u, x) + w.bias[units+u] + product(w.hh, units+u, h))
		n := math.Tanh(product(w.ih, 2*units+u, x) + w.bias[2*units+u] + r*(product(w.hh, 2*units+u, h)+w.own[u]))
		return (1-z)*n + z*h[u], 0
	}},
	"lstm": {4, false, func(w cellWeights, u, units int, x, h []float64, c float64) (float64, float64) {
		gate := func(k int) float64 {
			return product(w.ih, k*units+u, x) + w.bias[k*units+u] + product(w.hh, k*units+u, h)
		}
		c = sigmoid(gate(1))*c + sigmoid(gate(0))*math.Tanh(gate(2))
		return sigmoid(gate(3)) * math.Tanh(c), c
	}},
}

// byHand runs a cell along the first length positions of x, [position][channel]; the
// others keep the state.
func byHand(kind string, w cellWeights, x [][]float64, units, length int, backward bool) [][]float64 {
	k := cellsByHand[kind]
	h, c, out := make([]float64, units), make([]float64, units), make([][]float64, len(x))
	for i := range x {
		t := i
		if backward {
			t = len(x) - 1 - i
		}
		if t < length {
			next := make([]float64, units)
			for u := range next {
				next[u], c[u] = k.next(w, u, units, x[t], h, c[u])
			}
			h = next
		}
		out[t] = h
	}
	return out
}

// TestRecurrent compares the layers with the equations, two deep and bidirectional, with
// and without a length.
func TestRecurrent(t *testing.T) {
	const positions, channels, units = 10, 4, 3 // dims t, k
	rng := rand.New(rand.NewPCG(2, 6))
	for kind, k := range cellsByHand {
		for _, output := range []string{"last", "sequence"} {
			for _, length := range []int{-1, 0, 1, 7, positions, positions + 3} {
				n := resolve(t, "  n: {input: [k, t], layers: [{"+kind+": {units: 3, depth: 2, bidirectional: true, output: "+output+"}}]}\n")
				b := graph.NewBuilder()
				call := net.Call{Weight: func(w net.Weight) *graph.Node { return b.Param(w.Name, w.Shape) }}
				x := normals(channels*positions+1, 1, rng)
				count := positions
				if length >= 0 {
					call.Length = b.Column(channels * positions)
					x[channels*positions] = float64(length)
					count = min(length, positions)
				}
				in := b.Reshape(b.Columns(0, graph.Dim{Name: "(v)", Size: channels * positions}), n.Input())
				out := n.Apply(b, in, "", call)
				tape, err := graph.Compile(b, nil, []*graph.Node{out}, graph.Options{Columns: len(x)})
				if err != nil {
					t.Fatal(err)
				}
				theta := normals(tape.P, 0.5, rng)
				m := graph.NewMachine(tape, 1)
				rest := theta
				var want []float64
				values := make([][]float64, positions)
				for p := range values {
					for c := range channels {
						values[p] = append(values[p], x[c*positions+p])
					}
				}
				var ends [2][]float64
				for range 2 {
					var both [2][][]float64
					for d := range both {
						w := take(&rest, k.gates, len(values[0]), units, k.own)
						both[d] = byHand(kind, w, values, units, count, d == 1)
						ends[d] = both[d][[]int{positions - 1, 0}[d]]
					}
					for p := range values {
						values[p] = append(append([]float64(nil), both[0][p]...), both[1][p]...)
					}
				}
				if want = append(append(want, ends[0]...), ends[1]...); output == "sequence" {
					want = nil
					for u := range 2 * units {
						for p := range values {
							want = append(want, values[p][u])
						}
					}
				}
				if len(rest) > 0 {
					t.Fatalf("%s: %d weights more than the equations have", kind, len(rest))
				}
				m.Globals(theta, nil)
				m.Records(x, len(x), 1, nil)
				near(t, kind+" "+output, m.Output(0), want)
			}
		}
	}
}

// TestRecurrentWeightsAreOneTerm checks that the terms of a layer do not multiply with
// the positions: each weight has one term, and nothing is paired or written out.
func TestRecurrentWeightsAreOneTerm(t *testing.T) {
	for kind := range cellsByHand {
		n := resolve(t, "  n: {input: [k, t], layers: [{"+kind+": {units: 5, depth: 2, bidirectional: true}}]}\n")
		b := graph.NewBuilder()
		loss := lossOf(b, output(n, b, b.Columns(0, graph.Dim{Name: "(v)", Size: 40}), ""))
		tape, err := graph.Compile(b, loss, nil, graph.Options{GradientOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(tape.Terms) != len(n.Weights) || len(tape.Cross) > 0 || len(tape.Notes) > 0 {
			t.Errorf("%s: %d terms for %d arrays of weights, %d pairs, notes %v", kind, len(tape.Terms), len(n.Weights), len(tape.Cross), tape.Notes)
		}
		for _, term := range tape.Terms {
			if term.Kind == graph.TermDense && term.Cols > 4*5 {
				t.Errorf("%s: a term of %d values per record", kind, term.Cols)
			}
		}
	}
}

// TestLengthOfSequences checks gradients with a length, and that positions beyond it
// change nothing.
func TestLengthOfSequences(t *testing.T) {
	for _, layer := range spanning {
		n := resolve(t, "  n: {input: [k, w], layers: ["+layer+", flatten, {dense: {units: 2}}]}\n")
		b := graph.NewBuilder()
		x := b.Reshape(b.Columns(0, graph.Dim{Name: "(v)", Size: 12}), n.Input())
		call := net.Call{Length: b.Column(12), Weight: func(w net.Weight) *graph.Node { return b.Param(w.Name, w.Shape) }}
		loss := lossOf(b, n.Apply(b, x, "", call))
		if why := n.Length(); why != "" {
			t.Fatal(why)
		}
		tape, err := graph.Compile(b, loss, nil, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const records = 4
		rng := rand.New(rand.NewPCG(3, 1))
		rows := normals(tape.K0*records, 0.7, rng)
		for r := range records {
			rows[r*tape.K0+12] = float64(r) // lengths 0 to 3
		}
		m, theta := graph.NewMachine(tape, records), normals(tape.P, 0.5, rng)
		batch := difference.Batch{Rows: rows, Stride: tape.K0, N: records}
		if err := difference.Check(m, theta, batch); err != nil {
			t.Errorf("%s: %v", layer, err)
		}
		m.Globals(theta, nil)
		m.Records(rows, tape.K0, records, nil)
		loss1 := append([]float64(nil), m.Loss()...)
		if strings.Contains(layer, "sequence") {
			continue // the output has values at every position
		}
		for r := range records {
			for c := range 4 {
				for p := r; p < 3; p++ {
					rows[r*tape.K0+c*3+p] += 5
				}
			}
		}
		m.Records(rows, tape.K0, records, nil)
		near(t, layer, m.Loss(), loss1)
	}
	for input, want := range map[string]string{
		"  n: {input: [v], layers: [{dense: {units: 2}}]}\n":                                  "no layer of net n takes a length",
		"  n: {input: [t], layers: [{conv1d: {filters: 2, kernel: 3}}, {rnn: {units: 2}}]}\n": "layer n.rnn1 has 8 positions, and the input of the net 10",
	} {
		if got := resolve(t, input).Length(); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// spanning are layers that take a length.
var spanning = []string{
	"{multi_head_attention: {heads: 2}}, global_avg_pool", "{transformer: {heads: 2, units: 3}}, global_avg_pool", "global_avg_pool",
	"{conv1d: {filters: 2, kernel: 3, padding: same}}, global_avg_pool", "{conv1d_transpose: {filters: 2, kernel: 2}}",
	"{conv1d: {filters: 2, kernel: 2, padding: same}}, {max_pool1d: {kernel: 3}}", "{max_pool1d: {kernel: 2, stride: 1}}", "{avg_pool1d: {kernel: 2, stride: 1}}",
	"{rnn: {units: 3}}", "{gru: {units: 2, depth: 2, bidirectional: true}}", "{lstm: {units: 2, output: sequence}}", "{lstm: {units: 2, bidirectional: true}}",
}
