package outputs_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/outputs"
	"d3p/internal/report/reporttest"
)

// The noise share of a derived quantity is what its variance loses without the
// privacy noise. Over 20000 draws each variance has a relative standard error
// of about sqrt(2/20000) = 0.01, and the rest of the tolerance is for terms
// beyond the first order.
func TestNoiseShareOfDerivedQuantities(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	m, err := models.Compile(run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 20000
	noisy := outputs.DrawPosterior(m, run.Posterior, draws, reporttest.Normals{Rand: rand.New(rand.NewPCG(1, 1))})
	quiet := *run.Posterior
	quiet.VarDP = make([]float64, m.P)
	without := outputs.DrawPosterior(m, &quiet, draws, reporttest.Normals{Rand: rand.New(rand.NewPCG(2, 2))})
	checked := 0
	for v, variable := range noisy.Variables {
		if !strings.HasPrefix(variable.Name, "r_g[") {
			continue
		}
		checked++
		_, all := outputs.MeanVariance(noisy.Of(v))
		_, rest := outputs.MeanVariance(without.Of(v))
		if variable.NoiseShare == nil {
			t.Fatalf("%s has no share", variable.Name)
		}
		if want := 1 - rest/all; math.Abs(*variable.NoiseShare-want) > 0.07 {
			t.Errorf("%s: share %.3f, want %.3f", variable.Name, *variable.NoiseShare, want)
		}
		if s := *without.Variables[v].NoiseShare; s != 0 {
			t.Errorf("%s has the share %g without noise", variable.Name, s)
		}
	}
	if checked != 3 {
		t.Errorf("%d derived quantities, want the effects of 3 levels", checked)
	}
}

func TestMeanVariance(t *testing.T) {
	if mean, variance := outputs.MeanVariance([]float64{1, 2, 6}); mean != 3 || variance != 7 {
		t.Errorf("mean %g, variance %g of 1, 2, 6, want 3, 7", mean, variance)
	}
}
