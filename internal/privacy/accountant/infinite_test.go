package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

// withInfinite are a sampled fit and one with known batches, beside a step of delta d.
func withInfinite(d float64) map[string]func(sigma float64) event.Event {
	beside := func(steps func(sigma float64) event.Event) func(sigma float64) event.Event {
		return func(sigma float64) event.Event {
			list := []event.Event{event.Gaussian{NoiseMultiplier: 16}, steps(sigma)}
			if d > 0 {
				list = append(list, event.EpsilonDelta{Delta: d})
			}
			return event.Composed{Events: list}
		}
	}
	return map[string]func(sigma float64) event.Event{
		"known": beside(func(sigma float64) event.Event {
			return event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: sigma}, Count: 1000}
		}),
		"sampled": beside(func(sigma float64) event.Event {
			return event.SelfComposed{Of: event.PoissonSampled{Rate: 0.05, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 1000}
		}),
		"epochs": beside(func(sigma float64) event.Event {
			return event.SelfComposed{Of: event.BallsAndBins{Batches: 20, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 5}
		}),
	}
}

// Beside a step of delta d, noise for (epsilon, delta) is that for (delta-d)/(1-d) without it.
func TestNoiseBesideInfiniteLosses(t *testing.T) {
	stattest.SkipNumerics(t)
	const d, delta = 3e-6, 1e-5
	without := withInfinite(0)
	for name, mechanism := range withInfinite(d) {
		got, err := CalibrateNoise(Target{Epsilon: 1, Delta: delta}, event.AddRemove, mechanism)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := CalibrateNoise(Target{Epsilon: 1, Delta: (delta - d) / (1 - d)}, event.AddRemove, without[name])
		if err != nil || math.Abs(got.NoiseMultiplier/want.NoiseMultiplier-1) > 1e-4 {
			t.Errorf("%s: noise %v, want %v (%v)", name, got.NoiseMultiplier, want.NoiseMultiplier, err)
		}
		logDelta, _, err := estimateLogDelta(mechanism(got.NoiseMultiplier), event.AddRemove, Target{Epsilon: 1})
		if err != nil || math.Abs(math.Exp(logDelta)/delta-1) > 1e-3 {
			t.Errorf("%s: the search sees delta %g, want %g (%v)", name, math.Exp(logDelta), delta, err)
		}
		if w := got.Certified.RelativeWidth(); w > 2.4e-5 || got.Certified.Upper > 1 {
			t.Errorf("%s: certified %+v", name, got.Certified)
		}
	}
}

// Beside infinite losses the dominating mu covers the curve from MuFrom on, which is just above
// their mass; without them from 1e-10 on.
func TestMuBesideInfiniteLosses(t *testing.T) {
	const d = 2e-7
	for name, mechanism := range withInfinite(d) {
		c := mustCurve(t, mechanism(60), event.AddRemove)
		from := c.MuFrom()
		if !(from > d && from < 11*d) {
			t.Errorf("%s: mu covers the curve from %g on", name, from)
		}
		mu, _ := c.DominatingMu()
		for e := 0.0; e < 20 && c.Delta(e) >= from; e += 0.01 {
			if got := gaussianDelta(mu, e/mu-mu/2); got < c.Delta(e)*(1-1e-6) {
				t.Errorf("%s: mu %g has delta %g at epsilon %g, and the curve %g", name, mu, got, e, c.Delta(e))
			}
		}
		if plain := mustCurve(t, withInfinite(0)[name](60), event.AddRemove); name != "epochs" && plain.MuFrom() != muMinDelta {
			t.Errorf("%s: without infinite losses mu covers the curve from %g on", name, plain.MuFrom())
		}
	}
}
