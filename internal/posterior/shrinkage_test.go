package posterior

import (
	"math"
	"testing"
)

// A precise ratio stays, an imprecise one moves to the prior, and one far outside is
// drawn back.
func TestShrunkRatio(t *testing.T) {
	for _, c := range []struct{ x, v, low, high, sdLow, sdHigh float64 }{
		{2.5, 1e-6, 2.499, 2.501, 0.0009, 0.0011},
		{1, 0.01, 0.97, 1.02, 0.09, 0.102},
		{0.3, 1e6, 1.25, 1.3, 0.7, 1.1}, // of a log-normal: exp(s²/2) = 1.28, sd 1.0 without its tail
		{9, 16, 1.2, 6, 0.7, 4},
		{-3, 4, 0.3, 1.2, 0.1, 0.8},
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
