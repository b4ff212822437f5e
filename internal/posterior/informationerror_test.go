package posterior

import (
	"math"
	"testing"
)

// An exactly known information of fraction·h gives the same variance as an information
// measured to ±8. The posterior's own mean does not matter, and the effects of a
// scale keep all of their information.
func TestCertainFraction(t *testing.T) {
	const h, sd, noise, prior = 20.0, 8.0, 5.0, 2.0
	weights, variance := 0.0, 0.0
	for z := -4.0; z <= 4; z += 1e-3 {
		if x := h + sd*z; x > 0 {
			w := math.Exp(-z * z / 2)
			weights, variance = weights+w, variance+w/(prior+x*x/(x+noise))
		}
	}
	variance /= weights
	c := curvatureOf(2, nil)
	c.Totals[0], c.Totals[1] = 10, 100*noise
	for j := range 2 {
		c.Square[j], c.Likelihood[j], c.Noise[j], c.Prior[j] = 1, h, sd*sd, prior
		c.LikelihoodSlope[j] = 1e4
	}
	scales := []scale{{effects: []int{1}}}
	if got := c.certainFraction([]float64{h, h}, scales, true, false); got[0] != 1 || got[1] != 1 {
		t.Errorf("with bought correlations the fractions %g are certain, want 1", got)
	}
	got := c.certainFraction([]float64{h, h}, scales, false, false)
	x := got[0] * h
	if known := 1 / (prior + x*x/(x+noise)); math.Abs(known/variance-1) > 0.02 || got[0] > 0.99 {
		t.Errorf("the fraction %g is certain: variance %g, want %g", got[0], known, variance)
	}
	if got[1] != 1 {
		t.Errorf("the fraction %g of an effect is certain, want 1", got[1])
	}
}
