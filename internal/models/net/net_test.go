package net_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/difference"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/models/spec"
)

// parse reads the nets of a model file with the dims x (2, 3), k (4) and v (6).
func parse(t *testing.T, nets string) *spec.Spec {
	t.Helper()
	s, errs := parseWith(nets, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

// parseWith reads the nets of a model file that names a public file.
func parseWith(nets string, file []byte) (*spec.Spec, expr.Errors) {
	return spec.Parse("nets.yaml", []byte(`d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 10}
  columns: {c: {type: real, lower: -1, upper: 1}}
core:
  rows: {observe: {c: "normal(0, 1)"}}
nets:
`+nets), func(string) ([]byte, error) { return file, nil })
}

func dims(all int) map[string]expr.Dim {
	list := map[string]expr.Dim{"all": {Size: all, Labels: expr.NumberedLabels(all)}}
	for name, size := range map[string]int{"h": 2, "w": 3, "k": 4, "v": 6, "y": 5, "x": 4, "t": 10, "c": 2} {
		list[name] = expr.Dim{Size: size, Labels: expr.NumberedLabels(size)}
	}
	return list
}

func resolve(t *testing.T, nets string) *net.Net {
	t.Helper()
	return resolveAt(t, 1, nets)
}

// resolveAt resolves the first net, with all numbers in the dim all.
func resolveAt(t *testing.T, all int, nets string) *net.Net {
	t.Helper()
	n, errs := net.Resolve(parse(t, nets).Nets[0], dims(all))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return n
}

// Every row of the table of layers is complete, and every setting belongs to a layer.
func TestKinds(t *testing.T) {
	used := map[string]bool{}
	for _, k := range net.Kinds() {
		keys := slices.Concat(k.Needs, k.OneOf, k.Takes)
		if len(k.Settings()) != len(keys) {
			t.Errorf("%s: of the settings %v the table of settings has %d", k.Name, keys, len(k.Settings()))
		}
		for _, key := range keys {
			used[key] = true
		}
		if k.Maps == "" {
			t.Errorf("%s: Maps is empty, which the manual prints", k.Name)
		}
		if !strings.HasPrefix(k.Example, k.Name+": {") {
			t.Errorf("%s: the example is %q", k.Name, k.Example)
			continue
		}
		resolve(t, "  n: {input: ["+k.Input+"], layers: [{"+k.Example+"}]}\n")
	}
	for _, s := range net.Settings() {
		if !used[s.Key] {
			t.Errorf("no layer has the setting %s", s.Key)
		}
	}
}

// TestShapes checks the dims and weights of a net with heads.
func TestShapes(t *testing.T) {
	n := resolve(t, `  n:
    input: [h, w]
    init: {normal: 0.5}
    layers:
      - flatten
      - dense: {units: 5, activation: softplus}
    heads:
      a: [{dense: {units: k, init: he, bias: false}}]
      b: [{dense: {units: 6, init: glorot}}, exp, {reshape: {dims: [w, h]}}]
      c: [{dense: {units: 1, init: zero}}]
`)
	want := []net.Weight{
		{Name: "n.dense1.weight", Shape: graph.Shape{{Name: "n.flatten1", Size: 6}, {Name: "n.dense1", Size: 5}}, SD: 0.5},
		{Name: "n.dense1.bias", Shape: graph.Shape{{Name: "n.dense1", Size: 5}}, SD: 0.5},
		{Name: "n.a.dense1.weight", Shape: graph.Shape{{Name: "n.dense1", Size: 5}, {Name: "k", Size: 4}}, SD: math.Sqrt(2.0 / 5)},
		{Name: "n.b.dense1.weight", Shape: graph.Shape{{Name: "n.dense1", Size: 5}, {Name: "n.b.dense1", Size: 6}}, SD: math.Sqrt(2.0 / 11)},
		{Name: "n.b.dense1.bias", Shape: graph.Shape{{Name: "n.b.dense1", Size: 6}}},
		{Name: "n.c.dense1.weight", Shape: graph.Shape{{Name: "n.dense1", Size: 5}, {Name: "n.c.dense1", Size: 1}}},
		{Name: "n.c.dense1.bias", Shape: graph.Shape{{Name: "n.c.dense1", Size: 1}}},
	}
	if len(n.Weights) != len(want) {
		t.Fatalf("%d arrays of weights, want %d", len(n.Weights), len(want))
	}
	for i, w := range n.Weights {
		if w.Name != want[i].Name || w.SD != want[i].SD || !slices.Equal(w.Shape, want[i].Shape) {
			t.Errorf("weights %v, want %v", w, want[i])
		}
	}
	b := graph.NewBuilder()
	for head, want := range map[string]string{"a": "[k 4]", "b": "[w 3, h 2]", "c": "scalar"} {
		if got := output(n, b, b.Columns(0, graph.Dim{Name: "v", Size: 6}), head).Shape().String(); got != want {
			t.Errorf("output %s is %s, want %s", head, got, want)
		}
	}
	if err := b.Err(); err != nil {
		t.Error(err)
	}
}

// output calls a net at a vector that it reshapes to its input.
func output(n *net.Net, b *graph.Builder, x *graph.Node, head string) *graph.Node {
	x = b.Reshape(x, n.Input())
	return n.Apply(b, x, head, net.Call{
		Weight: func(w net.Weight) *graph.Node { return b.Param(w.Name, w.Shape) },
		Noise: func(layer string, input *graph.Node, shape graph.Shape) *graph.Node {
			return b.Aux(fmt.Sprintf("%s at %p", layer, input), shape, true)
		},
	})
}

// lossOf is Σ sin(i+1)·yᵢ of a net's output y, and the same of its square, so
// that no part of the gradient vanishes by symmetry.
func lossOf(b *graph.Builder, y *graph.Node) *graph.Node {
	c := make([]float64, y.Size())
	for i := range c {
		c[i] = math.Sin(float64(i + 1))
	}
	weights := b.Consts(y.Shape(), c)
	sum := b.Mul(weights, b.Add(y, b.Square(y)))
	if len(y.Shape()) == 0 {
		return sum
	}
	return b.Sum(sum)
}

// cases are small nets of every layer: of one that none is written for, its example.
func cases() map[string]string {
	list := map[string]string{
		"dense":      "  n: {input: [v], layers: [{dense: {units: 3}}]}\n",
		"no bias":    "  n: {input: [v], layers: [{dense: {units: k, bias: false}}]}\n",
		"two layers": "  n: {input: [h, w], layers: [flatten, {dense: {units: 5, activation: tanh}}, {dense: {units: 1}}]}\n",
		"reshape":    "  n: {input: [v], layers: [{dense: {units: 6}}, {reshape: {dims: [h, w]}}, flatten, {dense: {units: 2}}]}\n",
		"same dims":  "  n: {input: [v], layers: [{dense: {units: v, activation: tanh}}, {dense: {units: v}}]}\n",
	}
	for name, layer := range map[string]string{
		"conv2d":                 "conv2d: {filters: 3, kernel: 3, activation: tanh}",
		"conv2d same":            "conv2d: {filters: k, kernel: [3, 2], stride: 2, padding: same}",
		"conv2d padded":          "conv2d: {filters: 2, kernel: 3, stride: [2, 1], padding: 2, bias: false}",
		"conv2d transposed":      "conv2d_transpose: {filters: 3, kernel: 2, stride: 2}",
		"conv2d transposed same": "conv2d_transpose: {filters: 2, kernel: 3, stride: 2, padding: same, activation: softplus}",
		"conv2d transposed gaps": "conv2d_transpose: {filters: 2, kernel: [1, 2], stride: [3, 1], padding: same}",
		"max pool":               "max_pool2d: {kernel: 2, stride: 1}",
		"max pool same":          "max_pool2d: {kernel: 3, stride: 2, padding: same}",
		"avg pool":               "avg_pool2d: {kernel: 2}",
		"avg pool same":          "avg_pool2d: {kernel: 3, stride: 2, padding: same}",
	} {
		list[name] = "  n: {input: [y, x], layers: [{" + layer + "}, flatten, {dense: {units: 2}}]}\n"
		list[name+" after filters"] = "  n: {input: [y, x], layers: [{conv2d: {filters: 3, kernel: 2}}, tanh, {" + layer + "}, flatten, {dense: {units: 2, bias: false}}]}\n"
	}
	for name, layer := range map[string]string{
		"conv1d":            "conv1d: {filters: 3, kernel: 4, stride: 2}",
		"conv1d transposed": "conv1d_transpose: {filters: 3, kernel: 4, stride: 2, padding: 1}",
		"max pool 1d":       "max_pool1d: {kernel: 2}",
		"avg pool 1d":       "avg_pool1d: {kernel: 3, stride: 2}",
		"global mean":       "global_avg_pool: {}",
	} {
		list[name] = "  n: {input: [t], layers: [{conv1d: {filters: 2, kernel: 3, padding: same}}, tanh, {" + layer + "}, flatten, {dense: {units: 2}}]}\n"
	}
	for name, layers := range map[string]string{
		"layer norm":         "layer_norm",
		"layer norm, last":   "{layer_norm: {trailing: 1, activation: softplus}}",
		"layer norm, plain":  "{layer_norm: {affine: false, epsilon: 0.1}}",
		"group norm":         "{group_norm: {groups: 2}}",
		"instance norm":      "instance_norm",
		"instance norm, own": "{instance_norm: {affine: true}}",
		"residual":           "{residual: {layers: [{conv2d: {filters: 4, kernel: 3, padding: same}}, tanh, {conv2d: {filters: 4, kernel: 1}}]}}",
		"residual, shortcut": "{residual: {layers: [{conv2d: {filters: 2, kernel: 3}}], shortcut: [{conv2d: {filters: 2, kernel: 1}}, {avg_pool2d: {kernel: 3, stride: 1}}], activation: tanh}}",
		"dropout":            "{dropout: {rate: 0.3}}",
	} {
		list[name] = "  n: {input: [y, x], layers: [{conv2d: {filters: 4, kernel: 2}}, tanh, " + layers + ", flatten, {dense: {units: 2}}]}\n"
	}
	for name, layer := range map[string]string{
		"rnn":                  "rnn: {units: 3}",
		"rnn, sequence":        "rnn: {units: 3, output: sequence, bidirectional: true}",
		"gru":                  "gru: {units: 3}",
		"gru, deep":            "gru: {units: 2, depth: 2, bidirectional: true, bias: false}",
		"lstm":                 "lstm: {units: 3, output: sequence}",
		"lstm, deep":           "lstm: {units: 2, depth: 2, bidirectional: true}",
		"attention":            "multi_head_attention: {heads: 1, bias: false}",
		"causal transformer":   "transformer: {heads: 1, units: 3, depth: 2, causal: true}",
		"positions":            "positions: {init: glorot}",
		"rms norm":             "rms_norm: {}",
		"lstm of one and wide": "lstm: {units: 1, output: sequence}",
	} {
		list[name] = "  n: {input: [k, w], layers: [{" + layer + "}, flatten, {dense: {units: 2}}]}\n"
		list[name+" after embedding"] = "  n: {input: [t], layers: [{embedding: {levels: 4, units: 3}}, {" + layer + "}, flatten, {dense: {units: 2}}]}\n"
	}
	list["embedding"] = "  n: {input: [t], layers: [{embedding: {levels: 4, units: 3}}, tanh, {conv1d: {filters: 2, kernel: 2}}, flatten, {dense: {units: 2}}]}\n"
	list["embedding of a number"] = "  n: {input: [], layers: [{embedding: {levels: k, units: 3}}, {dense: {units: 2}}]}\n"
	for _, a := range net.Activations() {
		list[a] = "  n: {input: [v], layers: [{dense: {units: 4, activation: " + a + "}}, {dense: {units: 2}}, " + a + "]}\n"
	}
	var written strings.Builder
	for _, text := range list {
		written.WriteString(text)
	}
	for _, k := range net.Kinds() {
		if !regexp.MustCompile(`\W` + k.Name + `\W`).MatchString(written.String()) {
			list[k.Name] = "  n: {input: [" + k.Input + "], layers: [{" + k.Example + "}]}\n"
		}
	}
	return list
}

// TestGradients compares, record by record, the gradient with difference
// quotients, and norms and clipped sums from the structure with those of the
// written-out gradient, for every layer and for a net that is called twice, so
// that its weights are tied.
func TestGradients(t *testing.T) {
	const records = 4
	for name, text := range cases() {
		n := resolve(t, text)
		size, levels := n.Input().Size(), strings.Contains(name, "embedding")
		rng := rand.New(rand.NewPCG(7, 9))
		rows := normals(size*records, 0.7, rng)
		for i := range rows {
			if levels {
				rows[i] = float64(rng.IntN(4))
			}
		}
		for _, tied := range []bool{false, true} {
			b := graph.NewBuilder()
			x := b.Columns(0, graph.Dim{Name: "(v)", Size: size})
			loss := lossOf(b, output(n, b, x, ""))
			if tied {
				other := b.Mul(b.Const(0.5), b.Sub(x, b.Square(x)))
				if levels {
					other = b.Sub(b.Const(3), x)
				}
				loss = b.Add(loss, lossOf(b, output(n, b, other, "")))
			}
			tape, err := graph.Compile(b, loss, nil, graph.Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(tape.Notes) > 0 {
				t.Errorf("%s: %v", name, tape.Notes)
			}
			theta, noise := normals(tape.P, 0.5, rng), normals(tape.AuxRecord*records, 1, rng)
			batch := difference.Batch{Rows: rows, Stride: len(rows) / records, N: records, Aux: noise}
			if err := difference.Check(graph.NewMachine(tape, records), theta, batch); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func normals(n int, sd float64, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = sd * rng.NormFloat64()
	}
	return x
}

// TestDenseKeepsItsStructure checks that no gradient of a weight matrix is
// written out per record.
func TestDenseKeepsItsStructure(t *testing.T) {
	n := resolve(t, "  n: {input: [v], layers: [{dense: {units: 50, activation: relu}}, {dense: {units: 40}}]}\n")
	b := graph.NewBuilder()
	loss := lossOf(b, output(n, b, b.Columns(0, graph.Dim{Name: "v", Size: 6}), ""))
	tape, err := graph.Compile(b, loss, nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range tape.Terms {
		if term.Kind == graph.TermDense && term.Cols > 50 {
			t.Errorf("a term of %d values per record", term.Cols)
		}
	}
	if len(tape.Notes) > 0 {
		t.Error(tape.Notes)
	}
}
