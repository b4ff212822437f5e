package fit

import (
	"math"
	"testing"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// Draws follow N(m, s² + var_dp) in every coordinate.
func TestDrawsHaveTotalVariance(t *testing.T) {
	post := &Posterior{
		Guide: guide.NewMeanField(2), Lambda: []float64{1, -2, math.Log(0.3), math.Log(2)},
		LogSD: []float64{math.Log(0.3), math.Log(2)}, VarDP: []float64{0.16, 0},
	}
	post.Mean = post.Lambda[:2]
	sd, share := make([]float64, 2), make([]float64, 2)
	post.SD(sd)
	post.NoiseShare(share)
	sameVector(t, "sd", sd, []float64{0.5, 2})
	sameVector(t, "noise share", share, []float64{0.64, 0})

	const n = 20000
	draws := make([]float64, 2*n)
	post.Draws(draws, noise.Public(1).Stream(noise.PosteriorDraws))
	for j := range 2 {
		column := make([]float64, n)
		for i := range column {
			column[i] = draws[2*i+j]
		}
		p := stattest.KolmogorovSmirnov(column, func(x float64) float64 {
			return math.Erfc(-(x-post.Mean[j])/(sd[j]*math.Sqrt2)) / 2
		})
		stattest.Require(t, "draws", p)
	}
}

// Before averaging begins the posterior is the current iterate, with the noise
// variance of that iterate.
func TestPosteriorBeforeAveraging(t *testing.T) {
	d := simulated(4, 100, []float64{0.5, -1})
	loop := newTestLoop(t, testPlan(100, 2, 100, 5))
	driveUntil(t, loop, d, 3, 10)
	post, state := loop.Posterior(), loop.State()
	sameVector(t, "mean", post.Mean, state.Lambda[:2])
	sameVector(t, "var_dp", post.VarDP, state.Noise.Variance)
	if post.Steps != 10 || !(post.VarDP[0] > 0) {
		t.Errorf("steps %d, var_dp %v", post.Steps, post.VarDP)
	}
}

// With a gradient of known curvature h, g = −h(θ − m), the factor is
// h/(h + τ²/(T/2)); 1 before 0.3 T, and 0 when the estimate is not positive.
func TestTemperFactor(t *testing.T) {
	k := newTemper(100)
	for i := range 50 {
		shift := []float64{math.Sin(float64(i)), math.Cos(float64(i))} // |shift|² = 1
		k.observe([]float64{-4 * shift[0], -4 * shift[1]}, shift, []float64{math.Sqrt(0.5), math.Sqrt(0.5)})
	}
	for _, c := range []struct {
		step    int
		noiseSD float64
		want    float64
	}{{29, 10, 1}, {30, 10, 4 / (4 + 100./50)}, {99, 0, 1}} {
		if got := k.factor(c.step, c.noiseSD); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("factor at step %d with noise %g: %v, want %v", c.step, c.noiseSD, got, c.want)
		}
	}
	k.Num = -1
	if got := k.factor(50, 10); got != 0 {
		t.Errorf("factor of a negative curvature is %v, want 0", got)
	}
}
