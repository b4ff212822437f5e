package enginetest

import (
	"fmt"
	"regexp"
	"strings"

	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/models/spec"
)

// layeredNet is a net on columns, called some times.
type layeredNet struct {
	name    string
	columns []Column
	input   string
	calls   int
	layers  string
}

// layerModels are small networks that together have every layer: of one that none is
// written for, its example, with weights behind it.
func layerModels() (models []Model) {
	list, written := networks(), ""
	for _, n := range list {
		written += n.layers
	}
	for _, k := range net.Kinds() {
		if !regexp.MustCompile(`\b` + k.Name + `\b`).MatchString(written) {
			list = append(list, layeredNet{"layers: " + k.Name, repeat(normalColumn, sizeOf(k.Input)), "[" + k.Input + "]", 1, "\n      - " + k.Example + "\n      - flatten\n      - dense: {units: 2}"})
		}
	}
	for _, n := range list {
		models = append(models, Model{n.name, n.columns, layered(n.input, n.calls, n.layers)})
	}
	return models
}

// sizeOf is the number of values of an input.
func sizeOf(input string) int {
	n := 1
	for _, name := range strings.Split(input, ", ") {
		n *= dimSizes()[name]
	}
	return n
}

// dimSizes are the dims of the networks.
func dimSizes() map[string]int {
	return map[string]int{"y": 4, "x": 4, "t": 5, "v": 6, "longer": 10, "all": 16, "long": 32,
		"one": 1, "narrow": 64, "hundred": 100, "words": 128, "channels": 256, "wide": 512}
}

// networks are written by hand, so that layers meet each other.
func networks() []layeredNet {
	images, items := repeat(normalColumn, 16), repeat(groupColumn, 5)
	return []layeredNet{
		{"layers: filters and maxima", images, "[y, x]", 1, `
      - conv2d: {filters: 3, kernel: 2, activation: relu}
      - max_pool2d: {kernel: 2, stride: 1}
      - conv2d: {filters: 2, kernel: 2, padding: same, bias: false}
      - tanh
      - flatten
      - dense: {units: 2, activation: gelu}`},
		{"layers: normalised residual", images, "[y, x]", 1, `
      - conv2d: {filters: 4, kernel: 2, stride: 2}
      - group_norm: {groups: 2, activation: silu}
      - residual: {layers: [{conv2d: {filters: 4, kernel: 3, padding: same}}, softplus]}
      - layer_norm
      - global_avg_pool
      - dense: {units: 2, activation: sigmoid}`},
		{"layers: transposed filters", repeat(normalColumn, 16), "[all]", 1, `
      - dense: {units: 8, activation: exp}
      - reshape: {shape: [2, 2, 2]}
      - conv2d_transpose: {filters: 2, kernel: 3, stride: 2, padding: same, activation: softplus}
      - avg_pool2d: {kernel: 2}
      - identity`},
		{"layers: embedding", items, "[t]", 1, `
      - embedding: {levels: 4, units: 3}
      - conv1d: {filters: 2, kernel: 2}
      - instance_norm
      - conv1d_transpose: {filters: 2, kernel: 2}
      - max_pool1d: {kernel: 2}
      - avg_pool1d: {kernel: 2}`},
		{"layers: recurrent", items, "[t]", 1, `
      - embedding: {levels: 4, units: 3}
      - lstm: {units: 3, output: sequence}
      - gru: {units: 2, depth: 2, bidirectional: true, output: sequence}
      - rnn: {units: 2}`},
		{"layers: a longer recurrent layer", repeat(groupColumn, 10), "[longer]", 1, `
      - embedding: {levels: 4, units: 8}
      - lstm: {units: 8}`},
		{"layers: transformer", items, "[t]", 1, `
      - embedding: {levels: 4, units: 4}
      - positions
      - transformer: {heads: 2, units: 3, causal: true}
      - multi_head_attention: {heads: 1}
      - rms_norm: {activation: tanh}`},
		{"layers: dropout", images, "[y, x]", 1, `
      - dropout: {rate: 0.2}
      - flatten
      - dense: {units: 4, activation: tanh}
      - dropout: {rate: 0.5}
      - dense: {units: 2}`},
		{"layers: augment", images, "[y, x]", 2, `
      - augment: {shift: 1, flip: true}
      - conv2d: {filters: 2, kernel: 2, activation: tanh}
      - flatten
      - dense: {units: 2}`},
		{"layers: a net called twice", images, "[y, x]", 2, `
      - conv2d: {filters: 2, kernel: 2, activation: tanh}
      - layer_norm: {trailing: 2}
      - flatten
      - dense: {units: 2}`},
	}
}

// layered is a loss of the outputs of a net that is called `calls` times, at the
// columns. It panics for an invalid net.
func layered(input string, calls int, layers string) func(b *graph.Builder) *graph.Node {
	return func(b *graph.Builder) *graph.Node {
		n := resolve(input, layers)
		size := n.Input().Size()
		x := b.Columns(0, dim("(columns)", size))
		terms := []*graph.Node{}
		for range calls {
			y := n.Apply(b, b.Reshape(x, n.Input()), "", net.Call{
				Weight: func(w net.Weight) *graph.Node { return b.Param(w.Name, w.Shape) },
				Noise: func(layer string, _ *graph.Node, shape graph.Shape) *graph.Node {
					return b.Aux(fmt.Sprintf("%s in call %d", layer, len(terms)), shape, true)
				},
			})
			c := make([]float64, y.Size())
			for i := range c {
				c[i] = float64(i%5) - 1.7
			}
			y = b.Mul(b.Reshape(y, graph.Shape{dim("(y)", y.Size())}), b.Consts(graph.Shape{dim("(y)", y.Size())}, c))
			terms = append(terms, b.Sum(b.Sub(y, b.Square(y))))
			x = b.Sin(x)
		}
		return b.AddAll(terms...)
	}
}

// resolve reads a net with the dims of dimSizes.
func resolve(input, layers string) *net.Net {
	s, errs := spec.Parse("net.yaml", []byte(`d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 10}
  columns: {c: {type: real, lower: -1, upper: 1}}
core:
  rows: {observe: {c: "normal(0, 1)"}}
nets:
  n:
    input: `+input+`
    layers:`+layers+"\n"), nil)
	if len(errs) > 0 {
		panic(errs)
	}
	dims := make(map[string]expr.Dim)
	for name, size := range dimSizes() {
		dims[name] = expr.Dim{Size: size, Labels: expr.NumberedLabels(size)}
	}
	n, errs := net.Resolve(s.Nets[0], dims)
	if len(errs) > 0 {
		panic(errs)
	}
	return n
}
