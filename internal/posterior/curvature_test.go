package posterior

import (
	"math"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/noise"
)

// curvatureOf is a curvature of sums over no step.
func curvatureOf(latent int, sizes []int) *curvature {
	return newCurvature(&plan.Plan{Latent: latent, Sizes: sizes}, NewGradientSums(latent), 0)
}

// observed is a curvature after n steps of gradients −h·d + τ·N(0,1) with a prior
// of precision 1.
func observed(h []float64, sizes []int, sd, tau float64, n int) *curvature {
	c := curvatureOf(len(h), sizes)
	rng := noise.Insecure(1).Stream(noise.Initialisation)
	d, e := make([]float64, len(h)), make([]float64, len(h))
	for t := range n {
		rng.Normals(d)
		rng.Normals(e)
		w := float64(t + 1)
		c.Totals[0] += w
		c.Totals[1] += w * w * tau * tau
		for j := range d {
			d := sd * d[j]
			g := tau*e[j] - h[j]*d
			c.Likelihood[j] += w * d * -g
			c.Prior[j] += w * d * d
			c.Square[j] += w * d * d
			c.Noise[j] += w * w * tau * tau * d * d
		}
	}
	return c
}

// precisions are the estimated precisions h + λ of all coordinates.
func precisions(c *curvature) []float64 {
	out := make([]float64, len(c.floor))
	c.each(func(j int, h, _, lambda float64) { out[j] = c.precision(j, h, lambda) })
	return out
}

// With little noise the estimate is the curvature, in every coordinate, however the
// other coordinates of its parameter differ.
func TestCurvatureWithoutNoise(t *testing.T) {
	h := []float64{3, 50, 2, 9}
	precision := precisions(observed(h, []int{1, 3}, 0.5, 1e-6, 50))
	for j, want := range h {
		if math.Abs(precision[j]-want-1) > 1e-4 {
			t.Errorf("precision[%d] = %g, want %g", j, precision[j], want+1)
		}
	}
}

// The stated variance v is that of the estimate: over 200 coordinates the mean
// of (h − truth)²/v is 1 with standard error 0.1, so [0.4, 1.6] holds except
// with probability below 1e-8. Pooling equal curvatures takes nearly all of it
// away, and never gives a negative one.
func TestCurvatureBorrowsStrength(t *testing.T) {
	h := make([]float64, 200)
	for j := range h {
		h[j] = 4
	}
	c := observed(h, []int{200}, 0.5, 50, 400)
	precision := precisions(c)
	alone, pooled, noise := 0.0, 0.0, 0.0
	for j := range h {
		x, v := c.estimate(j)
		alone += (x - 4) * (x - 4) / v / 200
		noise += v / 200
		pooled += (precision[j] - 5) * (precision[j] - 5) / 200
		if precision[j] < 1 {
			t.Errorf("precision[%d] = %g, below the prior's", j, precision[j])
		}
	}
	if alone < 0.4 || alone > 1.6 {
		t.Errorf("squared error / stated variance = %g, want 1", alone)
	}
	if pooled > noise/5 {
		t.Errorf("pooled squared error %g, alone %g", pooled, noise)
	}
}

// A precise ratio stays, an imprecise one moves to the prior, and one far outside is
// drawn back.
func TestShrunkRatio(t *testing.T) {
	for _, c := range []struct{ x, v, low, high, sdLow, sdHigh float64 }{
		{2.5, 1e-6, 2.499, 2.501, 0.0009, 0.0011},
		{1, 0.01, 0.97, 1.02, 0.09, 0.102},
		{0.3, 1e6, 1.25, 1.3, 0.7, 1.1}, // of a log-normal: exp(s²/2) = 1.28, sd 1.0 without its tail
		{9, 16, 1.2, 6, 0.7, 4},
		{-3, 4, 0.3, 1.2, 0.1, 0.8},
		{0, 0.01, 0.1, 0.25, 0.03, 0.1},
		{0.0024, 8.3e-6, 0.003, 0.01, 0.001, 0.005}, // eight standard deviations below the prior's mean
		{-100, 1e-3, 0.0005, 0.0015, 0.00005, 0.0002},
	} {
		mean, variance := shrunkRatio(c.x, c.v, ratioSpread)
		if sd := math.Sqrt(variance); !(mean > c.low && mean < c.high && sd > c.sdLow && sd < c.sdHigh) {
			t.Errorf("measured %g ± %g: shrunk to %g ± %g, want in [%g, %g] ± [%g, %g]", c.x, math.Sqrt(c.v), mean, sd, c.low, c.high, c.sdLow, c.sdHigh)
		}
	}
	a, _ := shrunkRatio(1.5, 0.0099*1.5*1.5, ratioSpread)
	b, _ := shrunkRatio(1.5, 0.0101*1.5*1.5, ratioSpread)
	if math.Abs(a-b) > 0.03 {
		t.Errorf("the two ways to compute it differ: %g, %g", a, b)
	}
}

// The expected information is that of N records with clipped gradients.
func TestExpectedInformation(t *testing.T) {
	q := scores{latent: 2, records: 2, gradients: []float64{3, 4, 0, 0.5}}
	got := q.information(1, 10) // lengths 5 and 0.5
	for j, want := range []float64{5 * 9.0 / 5, 5 * (16.0/5 + 0.25)} {
		if math.Abs(got[j]-want) > 1e-12 {
			t.Errorf("information[%d] = %g, want %g", j, got[j], want)
		}
	}
}

// Noise makes the measured information of twelve groups ten times what N records can
// tell. Shrinking it to the expected information removes most of that error.
func TestExpectationUnderNoise(t *testing.T) {
	c := observed([]float64{1, 1, 1, 1, 1, 1}, []int{6}, 0.2, 66, 1000)
	expected := []float64{1.2, 1.2, 1.2, 1.2, 1.2, 1.2}
	alone, together := 0.0, 0.0
	c.each(func(_ int, h, _, _ float64) { alone += math.Abs(h-1) / 6 })
	c.expected = expected
	c.each(func(_ int, h, _, _ float64) { together += math.Abs(h-1) / 6 })
	t.Logf("mean error %g without, %g with", alone, together)
	if together > 1 || together > alone/2 {
		t.Errorf("mean error of the information %g, %g without expectation", together, alone)
	}
}
