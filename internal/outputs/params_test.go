package outputs_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// A release determines the posterior, also where the noise is correlated.
func TestParametersRoundTrip(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	roundTrip(t, run)
	latent := len(run.Posterior.Mean)
	for j := range latent {
		for k := range j + 1 {
			run.Posterior.NoiseFactor = append(run.Posterior.NoiseFactor, 0.1/float64(1+j-k))
		}
	}
	roundTrip(t, run)
}

func roundTrip(t *testing.T, run *report.Run) {
	t.Helper()
	parameters, err := run.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	var p outputs.Parameters
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	back, err := p.Posterior(modelstest.Compile(t, "model.yaml", reporttest.Model))
	if err != nil {
		t.Fatal(err)
	}
	for j, sd := range back.LogSD {
		if math.Abs(sd-run.Posterior.LogSD[j]) > 1e-14 || back.VarDP[j] != run.Posterior.VarDP[j] {
			t.Errorf("coordinate %d: log sd %g, noise %g, want %g, %g", j, sd, back.VarDP[j], run.Posterior.LogSD[j], run.Posterior.VarDP[j])
		}
	}
	a, b := make([]float64, 10*len(back.Mean)), make([]float64, 10*len(back.Mean))
	run.Posterior.Draws(a, reporttest.Normals{Rand: rand.New(rand.NewPCG(5, 6))})
	back.Draws(b, reporttest.Normals{Rand: rand.New(rand.NewPCG(5, 6))})
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("draw %d: %v, want %v", i, b[i], a[i])
		}
	}
}
