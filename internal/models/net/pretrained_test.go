package net_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/safetensors"
)

// fileOf is a file of the arrays.
func fileOf(t *testing.T, list ...safetensors.Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, list, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// array has random numbers.
func array(rng *rand.Rand, name string, shape ...int) safetensors.Array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	a := safetensors.Array{Name: name, Shape: shape, Values: make([]float64, n)}
	for i := range a.Values {
		a.Values[i] = rng.NormFloat64()
	}
	return a
}

// withFile resolves a net that starts from base.safetensors.
func withFile(t *testing.T, file []byte, nets string) (*net.Net, string) {
	t.Helper()
	s, errs := parseWith(nets, file)
	if len(errs) > 0 {
		return nil, errs.Error()
	}
	n, errs := net.Resolve(s.Nets[0], dims(1))
	if len(errs) > 0 {
		return nil, errs.Error()
	}
	return n, ""
}

// at is the output of a net at x: weights with values are constants, the others theta.
func at(t *testing.T, n *net.Net, x, theta []float64) []float64 {
	t.Helper()
	b := graph.NewBuilder()
	in := b.Reshape(b.Columns(0, graph.Dim{Name: "(v)", Size: len(x)}), n.Input())
	out := n.Apply(b, in, "", net.Call{Weight: func(w net.Weight) *graph.Node {
		if w.Values != nil {
			return b.Consts(w.Shape, w.Values)
		}
		return b.Param(w.Name, w.Shape)
	}})
	tape, err := graph.Compile(b, nil, []*graph.Node{out}, graph.Options{Columns: len(x)})
	if err != nil {
		t.Fatal(err)
	}
	if tape.P != len(theta) {
		t.Fatalf("%d numbers are trained, want %d", tape.P, len(theta))
	}
	m := graph.NewMachine(tape, 1)
	m.Globals(theta, nil)
	m.Records(x, len(x), 1, nil)
	return slices.Clone(m.Output(0))
}

// A file of PyTorch's gives dense layers y = Wx + b with its W.
func TestWeightsOfPyTorch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	w, bias := array(rng, "fc.weight", 3, 6), array(rng, "fc.bias", 3)
	n, problem := withFile(t, fileOf(t, w, bias), "  n: {input: [v], weights: {from: base.safetensors, layout: pytorch, names: {dense1: fc}}, layers: [{dense: {units: 3, frozen: true}}]}\n")
	if problem != "" {
		t.Fatal(problem)
	}
	x, want := normals(6, 1, rng), make([]float64, 3)
	for i := range want {
		want[i] = bias.Values[i] + product(w.Values, i, x)
	}
	near(t, "dense", at(t, n, x, nil), want)
	if l := n.Layers[0]; l.Weights != 0 || l.Frozen != 21 {
		t.Errorf("%d weights are trained and %d frozen, want 0 and 21", l.Weights, l.Frozen)
	}
}

// PyTorch's two biases of a cell are one, but for the block n of a GRU, where the state's
// stands inside the product with r.
func TestBiasesOfPyTorch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for kind, gates := range map[string]int{"rnn": 1, "gru": 3, "lstm": 4} {
		input, state := array(rng, kind+"1.bias_ih_l0", 2*gates), array(rng, kind+"1.bias_hh_l0", 2*gates)
		file := fileOf(t, array(rng, kind+"1.weight_ih_l0", 2*gates, 1), array(rng, kind+"1.weight_hh_l0", 2*gates, 2), input, state)
		n, problem := withFile(t, file, "  n: {input: [t], weights: {from: base.safetensors, layout: pytorch}, layers: [{"+kind+": {units: 2}}]}\n")
		if problem != "" {
			t.Fatal(problem)
		}
		for _, w := range n.Weights {
			var want []float64
			for i := range input.Values {
				apart := kind == "gru" && i >= 4
				switch {
				case w.Name == "n."+kind+"1.bias_ih_l0" && apart:
					want = append(want, input.Values[i])
				case w.Name == "n."+kind+"1.bias_ih_l0":
					want = append(want, input.Values[i]+state.Values[i])
				case w.Name == "n."+kind+"1.bias_hh_l0" && apart:
					want = append(want, state.Values[i])
				}
			}
			if want != nil {
				near(t, w.Name, w.Values, want)
			}
		}
	}
}

// A change of low rank of a dense layer is BAx beside the frozen Wx + b.
func TestLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	w, bias := array(rng, "n.dense1.weight", 6, 3), array(rng, "n.dense1.bias", 3)
	n, problem := withFile(t, fileOf(t, w, bias), "  n: {input: [v], weights: {from: base.safetensors}, layers: [{dense: {units: 3, lora: {rank: 2}}}]}\n")
	if problem != "" {
		t.Fatal(problem)
	}
	x, theta := normals(6, 1, rng), normals(2*6+3*2, 1, rng)
	a, b := theta[:12], theta[12:]
	for _, v := range n.Weights[2:] {
		want := map[string]float64{"n.dense1.lora_a": 1 / math.Sqrt(6), "n.dense1.lora_b": 0}
		if sd, ok := want[v.Name]; !ok || v.SD != sd || v.Mean != 0 {
			t.Errorf("%s starts at N(%g, %g²)", v.Name, v.Mean, v.SD)
		}
	}
	inner, want := []float64{product(a, 0, x), product(a, 1, x)}, make([]float64, 3)
	for i := range want {
		want[i] = bias.Values[i] + product(b, i, inner)
		for j := range x {
			want[i] += x[j] * w.Values[3*j+i]
		}
	}
	near(t, "output", at(t, n, x, theta), want)
}

// Only biases are trained, where the net says so.
func TestTrainBiases(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	file := fileOf(t, array(rng, "dense1.weight", 6, 3), array(rng, "dense1.bias", 3))
	n, problem := withFile(t, file, "  n: {input: [v], weights: {from: base.safetensors}, train: biases, layers: [{dense: {units: 3}}]}\n")
	if problem != "" {
		t.Fatal(problem)
	}
	if !n.Weights[0].Frozen || n.Weights[1].Frozen || n.Layers[0].Weights != 3 {
		t.Errorf("frozen: %v and %v, %d trained", n.Weights[0].Frozen, n.Weights[1].Frozen, n.Layers[0].Weights)
	}
}

// A renamed layer may lack its biases in the file, those of attention too, but no other
// weights.
func TestRenamedLayersWithoutBiases(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	weight, proj := array(rng, "a.in_proj_weight", 12, 4), array(rng, "a.out_proj.weight", 4, 4)
	const layers = "  n: {input: [t], weights: {from: f, names: {multi_head_attention1: a}}, layers: [{conv1d: {filters: 4, kernel: 1}}, {multi_head_attention: {heads: 2}}]}\n"
	if _, problem := withFile(t, fileOf(t, weight, proj), layers); problem != "" {
		t.Error(problem)
	}
	if _, problem := withFile(t, fileOf(t, weight), layers); !strings.Contains(problem, "no array of n.multi_head_attention1.out_proj.weight") {
		t.Errorf("%q, want the missing weights in it", problem)
	}
}

// Weights of another shape are an error; a layer that the file lacks starts at random, with a note.
func TestWeightsThatDoNotFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	file := fileOf(t, array(rng, "dense1.weight", 6, 3), array(rng, "dense1.bias", 3))
	const layers = "layers: [{dense: {units: 3}}, {dense: {units: 1}}]}\n"
	for settings, want := range map[string]string{
		"weights: {from: f, layout: pytorch}, " + layers:                                                   "[3 6]",
		"weights: {from: f, names: {dense1: other}}, " + layers:                                            "names:",
		"weights: {from: f, names: {dens1: dense1}}, " + layers:                                            "did you mean dense1",
		"weights: {from: f}, layers: [{dense: {units: 4}}]}\n":                                             "layout: pytorch",
		"weights: {from: f}, layers: [{conv1d: {filters: 2, kernel: 1}}]}\n":                               "no array of f belongs",
		"weights: {from: f}, layers: [flatten, {dense: {units: 3}}, {dense: {units: 1, frozen: true}}]}\n": "dense2.weight, which is frozen",
		"layers: [{dense: {units: 3, frozen: true}}]}\n":                                                   "no file",
		"layers: [{dense: {units: 3, lora: {rank: 2}}}]}\n":                                                "no file",
		"weights: {from: f}, layers: [flatten, {dense: {units: 3, lora: {rank: 4}}}]}\n":                   "rank 4 is more than 3",
		"train: biases, layers: [{dense: {units: 3}}]}\n":                                                  "no file",
		"weights: {layout: pytorch}, " + layers:                                                            "has no file",
	} {
		if _, problem := withFile(t, file, "  n: {input: [v], "+settings); !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q in it", settings, problem, want)
		}
	}
	n, problem := withFile(t, file, "  n: {input: [v], weights: {from: f}, "+layers)
	if problem != "" || len(n.Notes) != 1 || !strings.Contains(n.Notes[0], "n.dense2") {
		t.Errorf("%s; notes %v, want one of n.dense2", problem, n.Notes)
	}
	if _, problem := withFile(t, []byte("nothing"), "  n: {input: [v], weights: {from: f}, "+layers); !strings.Contains(problem, "damaged") {
		t.Errorf("a file without weights: %q", problem)
	}
}

// A file that a fit without privacy wrote is used with a warning, another without.
func TestWeightsOfAFitWithoutPrivacy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	for claim, warnings := range map[string]int{"NOT PRIVATE: fitted without clipping or noise": 1, "(1, 1e-05)-differential privacy": 0} {
		var file bytes.Buffer
		arrays := []safetensors.Array{array(rng, "dense1.weight", 6, 3), array(rng, "dense1.bias", 3)}
		if err := safetensors.Write(&file, arrays, map[string]string{safetensors.PrivacyKey: claim}); err != nil {
			t.Fatal(err)
		}
		s, errs := parseWith(`  n: {input: [v], weights: {from: f}, layers: [{dense: {units: 3}}]}
`, file.Bytes())
		if len(errs) > 0 || len(s.Warnings) != warnings {
			t.Errorf("%s: errors %v, warnings %v, want %d", claim, errs, s.Warnings, warnings)
		}
	}
}
