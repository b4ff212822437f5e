package sensitivity

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
)

// vocabulary is the public file of tokens of random networks.
const vocabulary = "film\nplot\ngood\nbad\n##ly\n.\n"

// sequenceResponses are the responses of a random network: a column, the dim of the output
// and the law given the output.
var sequenceResponses = []struct{ column, units, law string }{
	{"{type: binary}", "1", "bernoulli(logits=%s)"},
	{"{type: category, levels: [a, b, c]}", "class", "categorical(logits=%s)"},
	{"{type: real, lower: -50, upper: 200, scale: {center: 70, by: 20}}", "1", "normal(%s, 0.5)"},
	{"{type: integer, lower: 0, upper: 20000}", "1", "poisson(rate=exp(%s))"},
}

// sequenceLayers are layers from [channel, t] to the same number of positions, which
// random networks combine.
var sequenceLayers = []string{
	"positions",
	"rnn: {units: 3, output: sequence}",
	"gru: {units: 2, output: sequence, bidirectional: true}",
	"lstm: {units: 3, output: sequence, depth: 2}",
	"multi_head_attention: {heads: 2}",
	"multi_head_attention: {heads: 4, causal: true, bias: false}",
	"transformer: {heads: 2, units: 3}",
	"transformer: {heads: 1, units: 2, depth: 2, causal: true}",
	"conv1d: {filters: 4, kernel: 3, padding: same, activation: relu}",
	"rms_norm",
	"layer_norm: {trailing: 1}",
	"residual: {layers: [{multi_head_attention: {heads: 2}}]}",
}

// sequenceEnds take [channel, t] to a vector.
var sequenceEnds = []string{
	"rnn: {units: 3}", "rnn: {units: 2, bidirectional: true, depth: 2}", "gru: {units: 3}", "gru: {units: 2, bias: false}",
	"lstm: {units: 3}", "lstm: {units: 2, bidirectional: true}", "global_avg_pool",
}

// Sequences is the i-th random network over a text, or over two texts with the same
// weights, of units with up to three rows.
func Sequences(tb testing.TB, i int, rng *rand.Rand) Model {
	tb.Helper()
	y := sequenceResponses[i%len(sequenceResponses)]
	end := sequenceEnds[i%len(sequenceEnds)]
	layers := []string{"embedding: {levels: words_levels, units: 4}"}
	for range rng.IntN(3) {
		layer := sequenceLayers[rng.IntN(len(sequenceLayers))]
		layers = append(layers, layer)
		if strings.Contains(layer, "units: 3, output") { // heads divide the channels of other layers
			break
		}
	}
	layers = append(layers, end, "dense: {units: "+y.units+"}")
	length := []string{"", ", length=words_length", ", length=raw(n)"}[rng.IntN(3)]
	call := fmt.Sprintf("net(words%s)", length)
	if rng.IntN(3) == 0 { // the same weights at two places
		call += " - net(others" + strings.Replace(length, "words", "others", 1) + ")"
	}
	text := fmt.Sprintf(`d3p: 1
data:
  unit: {entity: person, id: id, rows_per_unit: %d}
  rows: {upper_bound: 100}
  columns:
    n: {type: integer, lower: -3, upper: 30}
    y: %s
  tensors:
    words: {from: first, text: words.txt, dims: [t], shape: [5]}
    others: {from: second, %s, dims: [t], shape: [5]}
nets:
  net:
    input: [t]
    layers:
      - %s
core:
  dims: {class: 3}
  rows:
    observe:
      y: %s
`, 1+rng.IntN(3), y.column, []string{"text: words.txt", "tokens: 8", "tokens: words.txt"}[i%3], strings.Join(layers, "\n      - "), fmt.Sprintf(y.law, call))
	m, err := models.Read("sequences.yaml", []byte(text), func(string) ([]byte, error) { return []byte(vocabulary), nil })
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return Model{Name: fmt.Sprintf("%s of %s", strings.Join(layers, ", "), call), Tape: m.Likelihood, Encoding: &m.Encoding}
}
