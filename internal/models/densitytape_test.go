package models_test

import (
	"math"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
)

// checkDensityTape compares the gradients of a DensityTape with the likelihood's:
// its own, log p(record | θ), and 1.
func checkDensityTape(t *testing.T, m *models.Model, rows, theta []float64) {
	t.Helper()
	tape, err := m.DensityTape()
	if (err != nil) != (m.Likelihood.AuxRecord+m.Likelihood.AuxGlobal > 0) {
		t.Fatalf("a likelihood with %d and %d random numbers: error %v", m.Likelihood.AuxRecord, m.Likelihood.AuxGlobal, err)
	}
	if err != nil {
		return
	}
	n := len(rows) / m.Encoding.Width()
	want, got := graph.NewMachine(m.Likelihood, n), graph.NewMachine(tape, n)
	want.Globals(theta, nil)
	want.Records(rows, m.Encoding.Width(), n, nil)
	got.Globals(append(append([]float64(nil), theta...), 1, 0), nil)
	got.Records(rows, m.Encoding.Width(), n, nil)
	if tape.P != m.P+2 {
		t.Fatalf("%d parameters, want %d", tape.P, m.P+2)
	}
	own, with := make([]float64, m.P), make([]float64, tape.P)
	for i := range n {
		want.Gradient(i, own)
		got.Gradient(i, with)
		for j, x := range append(append([]float64(nil), own...), want.Loss()[i], 1) {
			if math.Abs(with[j]-x) > 1e-12*max(1, math.Abs(x)) {
				t.Fatalf("record %d, gradient %d of %d: %v, want %v", i, j, tape.P, with[j], x)
			}
		}
	}
}

// A model may have parameters of any name beside those of the tape.
func TestDensityTapeOfAnyNames(t *testing.T) {
	m := modelstest.Compile(t, "names.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: -1, upper: 1, scale: {center: 0, by: 1}}
core:
  params:
    w: normal(0, 1)
    u: normal(0, 1)
  rows:
    observe:
      x: normal(w + u, 1)
`)
	checkDensityTape(t, m, []float64{0.5}, []float64{0.3, -0.2})
}
