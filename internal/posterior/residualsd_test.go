package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
	"d3p/internal/stats"
)

// A residual standard deviation beside unknown coefficients has the law that draws of both have,
// weighted by what the fit says of their sum. Beside known ones it stays.
func TestResidualBesideUnknownCoefficients(t *testing.T) {
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	at := residualSD(m)
	if at < 0 {
		t.Fatal("no residual standard deviation")
	}
	if bounded := strings.Replace(modelstest.Residuals, "half_normal(1)", "uniform(0, 5)", 1); residualSD(modelstest.Compile(t, "bounded.yaml", bounded)) >= 0 {
		t.Error("the coordinate of a bounded standard deviation is taken for its log")
	}
	const records, sd = 1000, 0.1
	j := &jointNormal{simulation: simulation{model: m}, records: records, prior: m.NewPriorDensity()}
	var free []int
	for k := range m.P {
		if k != at {
			free = append(free, k)
		}
	}
	for _, of := range []float64{0.001, 0.1, 0.5} { // the variance of each of two coefficients
		post := &Posterior{Mean: make([]float64, m.P), LogSD: slices.Repeat([]float64{math.Log(sd)}, m.P), VarDP: make([]float64, m.P)}
		diagonal := func(x float64) *mat.SymDense { return mat.NewSymDense(2, []float64{x, 0, 0, x}) }
		j.separateResidual(post, free, diagonal(records), diagonal(of))
		got := math.Sqrt(math.Exp(2*post.LogSD[at]) + post.VarDP[at])
		if of == 0.001 {
			if post.Mean[at] != 0 || math.Abs(got/sd-1) > 1e-12 {
				t.Errorf("known coefficients: %.3f ± %.3f", post.Mean[at], got)
			}
			continue
		}
		theta := make([]float64, m.P)
		prior := func(x float64) float64 {
			theta[at] = x
			return j.prior.LogDensity(theta)
		}
		rng := noise.NewRandom(noise.Public(3).Stream(noise.Simulation))
		var place, logs []float64
		for range 400_000 {
			x := 8*rng.Uniform() - 7
			first, second := rng.Normal(), rng.Normal()
			u := math.Log(math.Exp(2*x)+of*(first*first+second*second)) / 2
			place, logs = append(place, x), append(logs, prior(x)-u*u/(2*sd*sd)-prior(u))
		}
		mean, variance := stats.GridMoments(place, logs)
		if math.Abs(post.Mean[at]-mean) > 0.03*math.Sqrt(variance) || math.Abs(got/math.Sqrt(variance)-1) > 0.03 {
			t.Errorf("coefficients with variance %g: %.3f ± %.3f, draws have %.3f ± %.3f", of, post.Mean[at], got, mean, math.Sqrt(variance))
		}
	}
}
