package sensitivity

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/safetensors"
)

// gridLayers are layers of a grid of d dims, written with %d for d, that random networks
// combine. All have two channels, and leave at least two places along each dim of four.
var gridLayers = []string{
	"{conv%dd: {filters: 2, kernel: 2, padding: same, activation: relu}}",
	"{conv%dd: {filters: 2, kernel: 3, padding: 1, activation: gelu}}",
	"{conv%dd: {filters: 2, kernel: 2, stride: 2, padding: 1, activation: silu, bias: false}}",
	"{conv%dd_transpose: {filters: 2, kernel: 2, stride: 2, activation: softplus}}",
	"{conv%dd_transpose: {filters: 2, kernel: 2, padding: same}}",
	"{max_pool%dd: {kernel: 2, stride: 1}}",
	"{avg_pool%dd: {kernel: 2, stride: 1, padding: 1}}",
	"layer_norm", "{layer_norm: {trailing: 1}}", "{group_norm: {groups: 1, activation: tanh}}", "{instance_norm: {affine: true}}", "rms_norm",
	"{dropout: {rate: 0.3}}", "positions", "exp", "sigmoid",
	"{residual: {layers: [{conv%dd: {filters: 3, kernel: 3, padding: 1}}, {conv%dd: {filters: 2, kernel: 1}}]}}",
}

// gridEnds take a grid to a vector.
var gridEnds = []string{
	"flatten", "global_avg_pool",
	"flatten, {dense: {units: 6, activation: tanh}}, {bilinear: {units: 3}}",
	"flatten, {dense: {units: 3, init: he}}, layer_norm",
	"{conv%dd: {filters: 24, kernel: 3, padding: 1, activation: relu}}, {conv%dd: {filters: 20, kernel: 2}}, global_avg_pool",
}

// Grids is the i-th random network over a grid of one, two or three dims, which may see a
// record in two views.
func Grids(tb testing.TB, i int, rng *rand.Rand) Model {
	tb.Helper()
	d := 1 + i%3
	y := sequenceResponses[i%len(sequenceResponses)]
	dims, shape, size := "channel", "2", 2
	for _, dim := range []string{"x", "y", "z"}[:d] {
		dims, shape, size = dims+", "+dim, shape+", 4", 4*size
	}
	var layers []string
	if d == 2 && rng.IntN(3) == 0 {
		layers = append(layers, "{augment: {shift: 1, flip: true}}")
	}
	for range 1 + rng.IntN(3) {
		layer := gridLayers[rng.IntN(len(gridLayers))]
		if layer == "positions" && d > 1 {
			layer = "identity"
		}
		layers = append(layers, layer)
	}
	layers = append(layers, gridEnds[rng.IntN(len(gridEnds))], "{dense: {units: "+y.units+"}}")
	all := "layers: [" + strings.ReplaceAll(strings.Join(layers, ", "), "%d", strconv.Itoa(d)) + "]"
	text := grid(y.column, dims, shape, size, all, fmt.Sprintf(y.law, "net(grid)"))
	if random := strings.Contains(all, "dropout") || strings.Contains(all, "augment"); random && rng.IntN(2) == 0 {
		text += "likelihood: {views: 2}\n"
	}
	return network(tb, text, all, nil)
}

// adapted are nets over [channel, x] of four by four that start from a file: a layer of low
// rank, a frozen one, and biases alone.
var adapted = []string{
	"layers: [{multi_head_attention: {heads: 2, lora: {rank: 2}}}, flatten, {dense: {units: 4}}, {dense: {units: 3}}, {dense: {units: 1}}]",
	"layers: [flatten, {dense: {units: 4, activation: tanh, lora: {rank: 2}}}, {dense: {units: 3, frozen: true}}, {dense: {units: 1}}]",
	"train: biases, layers: [flatten, {dense: {units: 4, activation: gelu}}, {dense: {units: 3}}, {dense: {units: 1}}]",
}

// Adapted are networks that start from a public file, whose numbers have any size.
func Adapted(tb testing.TB, rng *rand.Rand) (list []Model) {
	tb.Helper()
	array := func(name string, shape ...int) safetensors.Array {
		a := safetensors.Array{Name: "net." + name, Shape: shape}
		for range shape[0] * append(shape, 1)[1] {
			a.Values = append(a.Values, signed(rng, -2, 2))
		}
		return a
	}
	var file bytes.Buffer
	if err := safetensors.Write(&file, []safetensors.Array{
		array("dense1.weight", 16, 4), array("dense1.bias", 4), array("dense2.weight", 4, 3), array("dense2.bias", 3), array("dense3.weight", 3, 1), array("dense3.bias", 1),
		array("multi_head_attention1.in_proj_weight", 12, 4), array("multi_head_attention1.in_proj_bias", 12),
		array("multi_head_attention1.out_proj.weight", 4, 4), array("multi_head_attention1.out_proj.bias", 4),
	}, nil); err != nil {
		tb.Fatal(err)
	}
	for _, layers := range adapted {
		text := grid("{type: binary}", "channel, x", "4, 4", 16, layers, "bernoulli(logits=net(grid))")
		text = strings.Replace(text, "input:", "weights: {from: base.safetensors}, input:", 1)
		list = append(list, network(tb, text, layers, file.Bytes()))
	}
	return list
}

// grid is the model file of a net over a grid of numbers.
func grid(response, dims, shape string, size int, layers, law string) string {
	return fmt.Sprintf(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {upper_bound: 100}
  columns:
    y: %s
  tensors:
    grid: {from: columns("p0".."p%d"), dims: [%s], shape: [%s], lower: -4, upper: 255, scale: {center: 100, by: 50}}
nets:
  net: {input: [%s], %s}
core:
  dims: {class: 3}
  rows:
    observe:
      y: %s
`, response, size-1, dims, shape, dims, layers, law)
}

// network compiles a model file whose net may start from a file.
func network(tb testing.TB, text, name string, base []byte) Model {
	tb.Helper()
	m, err := models.Read("grid.yaml", []byte(text), func(string) ([]byte, error) { return base, nil })
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return Model{Name: name, Tape: m.Likelihood, Encoding: &m.Encoding}
}
