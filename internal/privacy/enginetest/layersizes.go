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
