package plan

import (
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
)

const narrowNetwork = `
d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 5000}
  columns:
    x1: {type: real, lower: -3, upper: 3}
    x2: {type: real, lower: -3, upper: 3}
    inside: {type: binary, levels: ["0", "1"]}
nets:
  net:
    input: [features]
    layers:
      - dense: {units: 16, activation: tanh}
      - dense: {units: 1}
core:
  dims:
    features: [x1, x2]
  rows:
    observe:
      inside: bernoulli(logits=net(columns(features)))
`

// adam_corrected takes Adam's steps where there is no noise, so both have one default rate
// there; with noise its steps are longer, and its rate is half.
func TestRateOfAdamCorrected(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", strings.TrimSpace(narrowNetwork))
	rate := func(c Config, name string) float64 {
		c.Records, c.Optimizer = 5000, name
		return withNetwork(c, m).LearningRate
	}
	for _, c := range []Config{{NonPrivate: true}, {Epsilon: 1}} {
		adam, corrected := rate(c, "adam"), rate(c, "adam_corrected")
		if want := adam / 2; !c.NonPrivate && (adam == 0 || corrected != want) || c.NonPrivate && corrected != adam {
			t.Errorf("without privacy %v: Adam has %g, adam_corrected %g", c.NonPrivate, adam, corrected)
		}
	}
}
