package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/event"
)

// With little noise the losses of a step are two clusters, and the characteristic
// function vanishes and comes back. A contour that ends where it vanishes is off by
// as much as 0.5 %, outside of the bracket, which is an error.
func TestContourWaitsForRevivals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sigma, q, delta float64
		steps           int64
	}{{0.08, 0.05, 1e-5, 12}, {0.08, 0.2865, 0.09, 24}, {0.10332741049849384, 0.2865047968601901, 0.09301448921066348, 24}} {
		run := event.SelfComposed{Of: event.PoissonSampled{Rate: c.q, Of: event.Gaussian{NoiseMultiplier: c.sigma}}, Count: c.steps}
		if a := mustEpsilon(t, run, event.AddRemove, c.delta); a.Upper-a.Lower > 1e-4*a.Upper {
			t.Errorf("wide: %+v", a)
		}
	}
}

// Where little noise hides the envelope's lower bound, that of the attacks holds.
func TestAttacksBoundTheEnvelope(t *testing.T) {
	if !soaking {
		t.Skip("four seconds: runs with D3P_SOAK")
	}
	run := event.SelfComposed{Of: event.FixedSizeSampled{Population: 1e9, Batch: 1082893, Of: event.Gaussian{NoiseMultiplier: 0.10151264309698983}}, Count: 54}
	if a := mustEpsilon(t, run, event.Substitute, 0.00046392797225353256); a.Upper-a.Lower > 2e-3*a.Upper {
		t.Errorf("wide: %+v", a)
	}
}

// Randomised response beside Gaussian noise has δ in closed form: that of the noise, with ε
// moved by either loss of the response. Weak noise leaves two clusters of hardly any width,
// far from the ε between them.
func TestWeakGaussianBesideResponse(t *testing.T) {
	t.Parallel()
	for _, response := range []float64{0.1, 0.5, 2, 5} {
		run := func(sigma float64) event.Event {
			return event.Composed{Events: []event.Event{event.EpsilonDelta{Epsilon: response}, event.Gaussian{NoiseMultiplier: sigma}}}
		}
		exact := func(sigma, epsilon float64) float64 {
			noise := func(epsilon float64) float64 { return gaussianDelta(1/sigma, epsilon*sigma-0.5/sigma) }
			likely := 1 / (1 + math.Exp(-response))
			return likely*noise(epsilon-response) + (1-likely)*noise(epsilon+response)
		}
		for _, sigma := range []float64{20, 1e3, 1e5, 1e7} {
			for _, share := range []float64{0.5, 0.9, 0.99, 1.01} {
				a, err := Delta(run(sigma), event.AddRemove, share*response)
				if want := exact(sigma, share*response); err != nil || a.Lower > want*(1+1e-9) || a.Upper < want*(1-1e-9) {
					t.Errorf("%v, sigma %v at %v: %+v, %v, exact %v", response, sigma, share*response, a, err, want)
				}
			}
		}
		for _, share := range []float64{1.001, 1.1, 2} {
			const delta = 1e-5
			c, err := CalibrateNoise(Target{Epsilon: share * response, Delta: delta}, event.AddRemove, run)
			if err != nil {
				t.Errorf("%v at %v: %v", response, share*response, err)
				continue
			}
			// certified is at most delta, and a thousandth more of epsilon would be too much
			if got := exact(c.NoiseMultiplier, share*response); got > delta || exact(c.NoiseMultiplier, share*response*(1-1e-3)) < delta {
				t.Errorf("%v at %v: multiplier %v has delta %v", response, share*response, c.NoiseMultiplier, got)
			}
		}
	}
}
