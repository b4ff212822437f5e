package posterior

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
)

// Clipped gradients add up to zero at a residual standard deviation far below the true one. The
// correction finds the true one. Its interval becomes wider by h over the slope of the clipped
// sum in the truth, where that is less than the information h, and else not narrower.
func TestClippedResidualSDIsCorrected(t *testing.T) {
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	at := residualSD(m)
	const clipNorm, records, sd = 0.5, 1000, 0.1
	theta := func(logSD float64) []float64 {
		out := make([]float64, m.P)
		out[at] = logSD
		return out
	}
	sum := func(truth, where float64) (total float64) { // of clipped gradients, for this many records
		const simulated = 40_000
		simulation{model: m, law: m.DeclaredLaw(), seed: 11}.eachRecord(theta(truth), theta(where), simulated, func(g, _ []float64) {
			total += clipFactor(g, clipNorm) * g[at] * records / simulated
		})
		return total
	}
	all := func(x float64) []float64 { return slices.Repeat([]float64{x}, m.P) }
	for _, truth := range []float64{-1.5, 0, 0.5} {
		low, high := -4.0, 2.0
		for range 16 { // the fit ends where the sum is zero
			if middle := (low + high) / 2; sum(truth, middle) > 0 {
				low = middle
			} else {
				high = middle
			}
		}
		slope := (sum(truth+0.1, low) - sum(truth-0.1, low)) / 0.2
		for _, h := range []float64{slope / 2, 2 * slope} {
			c := &curvature{GradientSums: GradientSums{Totals: []float64{1, 1e-6, 0, 0}, Prior: all(0), Square: all(1)}, floor: all(1e-6)}
			lambda := append(theta(low), all(-7)...)
			j := &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 5}, records: records, curvature: c, clipNorm: clipNorm,
				releases: Releases{Guide: guide.NewMeanField(m.P), Lambda: lambda}}
			j.scores = newScores(m, theta(low), j.law, j.random())
			post := &Posterior{Mean: theta(low), LogSD: all(math.Log(sd)), VarDP: all(sd * sd)}
			others, one := []int{0, 1}, mat.NewSymDense(2, []float64{1, 0, 0, 1})
			j.correctClipBias(post, clipBias{others, one, one, all(h), nil})
			if truth-low < 0.3 || math.Abs(post.Mean[at]-truth) > 0.04 {
				t.Errorf("log sd %.2f: the fit ends at %.2f and is corrected to %.2f", truth, low, post.Mean[at])
			}
			want := sd * math.Max(1, h/slope)
			if got := math.Exp(post.LogSD[at]); math.Abs(got/want-1) > 0.06 || math.Abs(math.Sqrt(post.VarDP[at])/want-1) > 0.06 {
				t.Errorf("log sd %.2f, information %.0f, slope %.0f: sds %.3f and %.3f, want %.3f", truth, h, slope, got, math.Sqrt(post.VarDP[at]), want)
			}
		}
	}
}
