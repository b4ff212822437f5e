package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// regressionHead is the data block of the two forms of one regression.
const regressionHead = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x1: {type: real, lower: -4, upper: 4}
    x2: {type: real, lower: -4, upper: 4}
    y: {type: category, levels: [a, b, c]}
`

// TestNetworkWithAPrior checks that a network of one dense layer whose weights
// have a prior is the same model as a regression with those coefficients:
// likelihood, prior and both gradients, with a scale of the prior that is a
// parameter itself.
func TestNetworkWithAPrior(t *testing.T) {
	network := compileText(t, regressionHead+`nets:
  net: {input: [f], prior: "normal(0, tau)", layers: [{dense: {units: y}}]}
core:
  dims: {f: [x1, x2], y: levels(y)}
  params:
    tau: half_normal(1.5)
  rows:
    observe:
      y: categorical(logits=net(columns(f)))
`)
	regression := compileText(t, regressionHead+`core:
  dims: {f: [x1, x2], y: levels(y)}
  params:
    tau: half_normal(1.5)
    w: normal(0, tau) [f, y]
    c: normal(0, tau) [y]
  rows:
    observe:
      y: categorical(logits=columns(f) @ w + c)
`)
	if network.P != 10 || regression.P != 10 {
		t.Fatalf("%d and %d parameters, want 10", network.P, regression.P)
	}
	rng := rand.New(rand.NewPCG(8, 1))
	theta := normals(10, 1, rng)
	rows := []float64{0.5, -1, 2, 1, 1.5, 0, -2, 0.25, 1}
	for name, of := range map[string]func(m *models.Model) *graph.Tape{
		"likelihood": func(m *models.Model) *graph.Tape { return m.Likelihood },
		"prior":      func(m *models.Model) *graph.Tape { return m.Prior },
	} {
		evaluate := func(m *models.Model) (loss, gradient []float64) {
			machine := graph.NewMachine(of(m), 3)
			machine.Globals(theta, nil)
			gradient = make([]float64, 10)
			if name == "prior" {
				machine.GlobalGradient(gradient)
			} else {
				machine.Records(rows, 3, 3, nil)
				machine.AddGradients([]float64{1, 0.5, 2}, gradient)
			}
			return machine.Loss(), gradient
		}
		loss, gradient := evaluate(network)
		wantLoss, want := evaluate(regression)
		for i := range wantLoss {
			if math.Abs(loss[i]-wantLoss[i]) > 1e-12 {
				t.Errorf("%s of record %d is %v, want %v", name, i, loss[i], wantLoss[i])
			}
		}
		for i := range want {
			if math.Abs(gradient[i]-want[i]) > 1e-12 {
				t.Errorf("%s: gradient %d is %v, want %v", name, i, gradient[i], want[i])
			}
		}
	}
}
