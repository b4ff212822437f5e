package models_test

import (
	"math"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
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
