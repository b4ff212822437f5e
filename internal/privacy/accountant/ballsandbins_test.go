package accountant

import (
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

func TestReferenceBallsAndBins(t *testing.T) {
	for _, r := range loadReference(t).BallsAndBins {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			ev := event.SelfComposed{Of: event.BallsAndBins{Batches: r.Batches, Of: event.Gaussian{NoiseMultiplier: r.Sigma}}, Count: r.Epochs}
			a, err := Epsilon(ev, event.AddRemove, r.Delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v want %v in %.3fs", a.Directions, r.Extrapolated, a.Seconds)
			// The extrapolated value is good to about 1e-4 (reference meta).
			checkBracket(t, a.Lower, a.Upper, r.Extrapolated*(1-1e-4), r.EpsilonUpper)
			if a.Lower > r.Extrapolated*(1+1e-4) {
				t.Errorf("lower %v is above the extrapolated %v", a.Lower, r.Extrapolated)
			}
		})
	}
}

// Epochs of balls-and-bins compose with other releases.
func TestBallsAndBinsInLedgers(t *testing.T) {
	epochs := event.SelfComposed{Of: event.BallsAndBins{Batches: 5, Of: event.Gaussian{NoiseMultiplier: 4}}, Count: 2}
	alone := mustEpsilon(t, epochs, event.AddRemove, 1e-6)
	more := mustEpsilon(t, event.Composed{Events: []event.Event{epochs, event.Gaussian{NoiseMultiplier: 10}}}, event.AddRemove, 1e-6)
	every := mustEpsilon(t, event.Composed{Events: []event.Event{event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 4}, Count: 2}, event.Gaussian{NoiseMultiplier: 10}}}, event.AddRemove, 1e-6)
	if !more.Certified || !(alone.Upper < more.Lower && more.Upper < every.Lower) {
		t.Errorf("epochs %+v, with a Gaussian %+v, without amplification %+v", alone, more, every)
	}
}

// Few batches and little noise are still bracketed, far below the bound without
// amplification (10 at noise 1), and calibration uses it.
func TestFewBatches(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	run := func(sigma float64) event.Event {
		return event.SelfComposed{Of: event.BallsAndBins{Batches: 40, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 4}
	}
	const delta = 1e-5
	a := mustEpsilon(t, run(1), event.AddRemove, delta)
	if !a.Certified || a.Upper-a.Lower > 2e-4*a.Upper || a.Upper > 1.853 {
		t.Errorf("epsilon: %+v", a)
	}
	if !soaking { // a dozen of these
		return
	}
	c, err := CalibrateNoise(Target{Epsilon: 2, Delta: delta}, event.AddRemove, run)
	if err != nil {
		t.Fatal(err)
	}
	if !(c.NoiseMultiplier < 0.968 && c.Certified.Upper <= 2 && c.Certified.Lower > 1.9995) {
		t.Errorf("calibration: %+v", c)
	}
}

// Little noise, many batches: what is cut off is matched to the width, so that the
// grid of a likelihood ratio can be fine.
func TestBallsAndBinsWithLittleNoise(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	for _, c := range []struct {
		batches int
		epochs  int64
	}{{1000, 5}, {40, 4}} {
		run := event.SelfComposed{Of: event.BallsAndBins{Batches: c.batches, Of: event.Gaussian{NoiseMultiplier: 0.8}}, Count: c.epochs}
		if a := mustEpsilon(t, run, event.AddRemove, 1e-5); a.RelativeWidth() > 1e-3 || !a.Certified {
			t.Errorf("%d batches: %+v", c.batches, a)
		}
	}
}

// With next to no noise the likelihood ratio overflows: then the bound without
// amplification answers.
func TestBallsAndBinsWithoutNoise(t *testing.T) {
	t.Parallel()
	for _, sigma := range []float64{1e-3, 0.01, 0.03} {
		run := event.BallsAndBins{Batches: 2, Of: event.Gaussian{NoiseMultiplier: sigma}}
		plain := mustEpsilon(t, event.Gaussian{NoiseMultiplier: sigma}, event.AddRemove, 1e-6)
		if a := mustEpsilon(t, run, event.AddRemove, 1e-6); a.Upper != plain.Upper || a.Certified {
			t.Errorf("noise %v: %+v, without amplification %+v", sigma, a, plain)
		}
	}
}
