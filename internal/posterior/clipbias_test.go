package posterior

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/stats"
)

// Clipped gradients balance the prior's at a residual standard deviation far below the true one.
// The correction gives it the posterior that simulations at many truths have, without and with the
// privacy noise.
func TestClippedResidualSDIsCorrected(t *testing.T) {
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	at, prior := residualSD(m), m.NewPriorDensity()
	const clipNorm, records = 0.5, 1000
	theta := func(logSD float64) []float64 {
		out := make([]float64, m.P)
		out[at] = logSD
		return out
	}
	sum := func(truth, where float64) (total float64) { // of clipped gradients, for this many records
		const simulated = 20_000
		simulation{model: m, law: m.DeclaredLaw(), seed: 11}.eachRecord(theta(truth), theta(where), simulated, func(g, _ []float64) {
			total += clipFactor(g, clipNorm) * g[at] * records / simulated
		})
		return total
	}
	slope := func(where float64) float64 {
		g := make([]float64, m.P)
		prior.Gradient(g, theta(where))
		return g[at]
	}
	all := func(x float64) []float64 { return slices.Repeat([]float64{x}, m.P) }
	for _, truth := range []float64{-1.5, 0, 0.5} {
		low, high := -4.0, 2.0
		for range 16 { // the fit ends where the sum is zero
			if middle := (low + high) / 2; sum(truth, middle)+slope(middle) > 0 {
				low = middle
			} else {
				high = middle
			}
		}
		var grid, sums []float64
		for x := low - 1.5; x < low+2; x += 0.05 {
			grid, sums = append(grid, x), append(sums, sum(x, low)+slope(low))
		}
		for _, h := range []float64{400, 3000} {
			moments := func(variance float64) (mean, sd float64) {
				var logs []float64
				for i, x := range grid {
					logs = append(logs, prior.LogDensity(theta(x))-sums[i]*sums[i]/(2*variance))
				}
				mean, variance = stats.GridMoments(grid, logs)
				return mean, math.Sqrt(variance)
			}
			c := &curvature{GradientSums: GradientSums{Totals: []float64{1, h, 0, 0}, Prior: all(0), Square: all(1)}, floor: all(1)}
			j := &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 5}, records: records, curvature: c, prior: prior, clipNorm: clipNorm,
				releases: Releases{Guide: guide.NewMeanField(m.P), Lambda: append(theta(low), all(-7)...)}}
			j.scores = newScores(m, theta(low), j.law, j.random())
			post := &Posterior{Mean: theta(low), LogSD: all(0), VarDP: all(0)}
			others, one := []int{0, 1}, mat.NewSymDense(2, []float64{1, 0, 0, 1})
			j.correctClipBias(post, clipBias{others, one, one, all(h), nil})

			_, exact := moments(h)
			mean, total := moments(2 * h)
			gotExact, gotTotal := math.Exp(post.LogSD[at]), math.Sqrt(math.Exp(2*post.LogSD[at])+post.VarDP[at])
			if truth-low < 0.3 || math.Abs(post.Mean[at]-mean) > 0.03+0.05*total || math.Abs(gotExact/exact-1) > 0.05 || math.Abs(gotTotal/total-1) > 0.05 {
				t.Errorf("log sd %.2f, information %g: the fit ends at %.2f and is corrected to %.3f ± %.3f (%.3f without noise), want %.3f ± %.3f (%.3f)",
					truth, h, low, post.Mean[at], gotTotal, gotExact, mean, total, exact)
			}
			if h == 400 && math.Abs(mean-truth) > 0.06 {
				t.Errorf("log sd %.2f: simulations say %.2f", truth, mean)
			}
		}
	}
}
