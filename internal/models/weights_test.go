package models_test

import (
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// TestWeights checks that a weight multiplies the log density of its record, in
// the unit of the file, and that a prediction does not need it.
func TestWeights(t *testing.T) {
	const model = "model:\n  formula: y ~ 1 + x1\n  family: bernoulli\n"
	columns := dataBlock(1, "w: {type: real, lower: 0, upper: 5}", "y: {type: binary}")
	plain, weighted := compile(t, columns+model), compile(t, columns+"  weights: w\n"+model)
	theta, record := []float64{0.3, -0.4}, map[string]float64{"x1": 0.7, "w": 2.5, "y": 1}
	loss := func(m *models.Model) []float64 {
		machine := graph.NewMachine(m.Likelihood, 1)
		machine.Globals(theta, nil)
		machine.Records(encodeOne(m, record), m.Encoding.K, 1, nil)
		return machine.Loss()
	}
	compare(t, "weighted log density", loss(weighted), []float64{2.5 * loss(plain)[0]})
	if got, want := weighted.Encoding.Predictors().K, plain.Encoding.Predictors().K; got != want {
		t.Errorf("predictions need %d encoded columns, want %d", got, want)
	}
}
