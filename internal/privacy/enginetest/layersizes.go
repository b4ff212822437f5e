package enginetest

import "math/rand/v2"

// Sized are networks of the sizes in which each kind of layer is used, for timing
// engines.
func Sized() (models []Model) {
	letter := Column(func(rng *rand.Rand) float64 { return float64(rng.IntN(64)) })
	for _, n := range []layeredNet{
		{"rnn", repeat(letter, 32), "[long]", 1, `
      - embedding: {levels: 64, units: 32}
      - rnn: {units: 64}
      - dense: {units: 2}`},
		{"gru", repeat(letter, 32), "[long]", 1, `
      - embedding: {levels: 64, units: 32}
      - gru: {units: 64}
      - dense: {units: 2}`},
		{"lstm", repeat(letter, 32), "[long]", 1, `
      - embedding: {levels: 64, units: 32}
      - lstm: {units: 64}
      - dense: {units: 2}`},
		{"transformer", repeat(letter, 32), "[long]", 1, `
      - embedding: {levels: 64, units: 32}
      - positions
      - transformer: {heads: 4, units: 64}
      - global_avg_pool
      - dense: {units: 2}`},
		{"conv1d", repeat(letter, 32), "[long]", 1, `
      - embedding: {levels: 64, units: 32}
      - conv1d: {filters: 64, kernel: 5, activation: relu}
      - global_avg_pool
      - dense: {units: 2}`},
	} {
		models = append(models, Model{n.name, n.columns, layered(n.input, n.calls, n.layers)})
	}
	return models
}

// OpacusLayer is a layer of Opacus's benchmark at its sizes, with the ratios to a step without
// per-sample gradients that its CI allows: measured on a GPU, batches of 16, about 15 % above
// what it measured. pytorch/opacus at 1e10a187, benchmarks/config.json and
// .circleci/config.yml.
type OpacusLayer struct {
	Model
	Time, Memory float64
}

// OpacusLayers are the layers of that benchmark. Attention here is that of 64 words to
// themselves, there to 128 others.
func OpacusLayers() (layers []OpacusLayer) {
	index := Column(func(rng *rand.Rand) float64 { return float64(rng.IntN(20000)) })
	for _, l := range []struct {
		layeredNet
		time, memory float64
	}{
		{layeredNet{"linear", repeat(normalColumn, 512), "[wide]", 1, "\n      - dense: {units: 512}"}, 3.6, 13},
		{layeredNet{"layernorm", repeat(normalColumn, 64), "[narrow]", 1, "\n      - layer_norm"}, 2.6, 1.6},
		{layeredNet{"groupnorm", repeat(normalColumn, 256), "[channels]", 1, "\n      - group_norm: {groups: 16}"}, 2.6, 1.6},
		{layeredNet{"instancenorm", repeat(normalColumn, 256*64), "[channels, narrow]", 1, "\n      - instance_norm: {affine: true}"}, 2.6, 1.6},
		{layeredNet{"embedding", repeat(index, 1), "[one]", 1, "\n      - embedding: {levels: 20000, units: 100}"}, 8, 15},
		{layeredNet{"mha", repeat(normalColumn, 100*64), "[hundred, narrow]", 1, "\n      - multi_head_attention: {heads: 4}"}, 3.5, 2},
		{layeredNet{"rnn", repeat(normalColumn, 100*128), "[hundred, words]", 1, "\n      - rnn: {units: 100, output: sequence}"}, 33, 1.2},
		{layeredNet{"gru", repeat(normalColumn, 100*128), "[hundred, words]", 1, "\n      - gru: {units: 100, output: sequence}"}, 40, 1.6},
		{layeredNet{"lstm", repeat(normalColumn, 100*128), "[hundred, words]", 1, "\n      - lstm: {units: 100, output: sequence}"}, 38, 1.8},
	} {
		layers = append(layers, OpacusLayer{Model{l.name, l.columns, layered(l.input, l.calls, l.layers)}, l.time, l.memory})
	}
	return layers
}
