package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/event"
)

// The loss of a Gaussian is N(μ²/2, μ²): the bound covers its upper delta quantile,
// which epsilon at delta does not, and by little.
func TestLossCoversTheQuantile(t *testing.T) {
	for _, mu := range []float64{0.1, 0.268, 1, 3} {
		c := mustCurve(t, event.Gaussian{NoiseMultiplier: 1 / mu}, event.AddRemove)
		for _, delta := range []float64{1e-2, 1e-5, 1e-9} {
			beyond := func(loss float64) float64 { return numeric.NormalTail(loss/mu - mu/2) }
			loss := c.Loss(delta)
			if p := beyond(loss); p > delta || p < delta/4 {
				t.Errorf("mu %g: a loss above %g has probability %g, want at most %g", mu, loss, p, delta)
			}
			if beyond(c.Epsilon(delta)) < 1.2*delta {
				t.Errorf("mu %g: epsilon at %g covers that much of the loss", mu, delta)
			}
		}
	}
	if c := mustCurve(t, event.Gaussian{NoiseMultiplier: 1}, event.AddRemove); !math.IsInf(c.Loss(1e-300), 1) {
		t.Error("a loss is bounded beyond the end of the curve")
	}
}
