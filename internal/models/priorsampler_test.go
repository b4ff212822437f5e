package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/stattest"
)

// TestPriorSampler compares draws with the laws of the priors, also where these
// depend on other parameters or single values have their own.
func TestPriorSampler(t *testing.T) {
	m := compile(t, dataBlock(2, "g: {type: category, levels: [a, b]}", "d: {type: binary}")+`model:
  formula: d ~ 1 + x1 + x2 + (1 | g)
  family: bernoulli
  parametrisation: centred
  priors:
    Intercept: student_t(4, 1, 2)
    b: normal(0.5, 2)
    b[x2]: normal(-3, 0.1)
    sd: exponential(2)
`)
	rng := testRand{rand.New(rand.NewPCG(5, 6))}
	const n = 2000
	theta, x := make([]float64, m.P), make([]float64, m.Constrained)
	draws := make([][]float64, 5)
	sampler := m.NewPriorSampler()
	for range n {
		sampler.Draw(theta, rng)
		m.Constrain(x, theta)
		// Intercept, b[x1], b[x2], sd, and r over the sd of the same draw.
		for i, v := range []float64{x[0], x[1], x[2], x[3], x[4] / x[3]} {
			draws[i] = append(draws[i], v)
		}
	}
	for i, law := range []interface{ CDF(float64) float64 }{
		distuv.StudentsT{Mu: 1, Sigma: 2, Nu: 4},
		distuv.Normal{Mu: 0.5, Sigma: 2},
		distuv.Normal{Mu: -3, Sigma: 0.1},
		distuv.Exponential{Rate: 2},
		distuv.Normal{Sigma: 1},
	} {
		stattest.Require(t, m.Names()[i], stattest.KolmogorovSmirnov(draws[i], law.CDF))
	}
	if math.IsNaN(x[4]) {
		t.Error("a draw is not a number")
	}
}
