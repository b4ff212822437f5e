package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

// The largest rate meets the target, also of a group, and a rate 0.1 % larger does not.
func TestMaxRate(t *testing.T) {
	t.Parallel()
	run := func(rate float64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: rate, Of: event.Gaussian{NoiseMultiplier: 1.5}}, Count: 500}
	}
	for _, target := range []Target{{Epsilon: 1, Delta: 1e-5}, {Epsilon: 2, Delta: 1e-6, Group: 3}} {
		rate, a, err := MaxRate(target, event.AddRemove, run)
		if err != nil || a.Upper > target.Epsilon {
			t.Fatalf("%+v: %v, %+v, %v", target, rate, a, err)
		}
		more, err := GroupEpsilon(run(rate*1.001), event.AddRemove, target.group(), target.Delta)
		if err != nil || more.Lower <= target.Epsilon {
			t.Errorf("%+v: a larger rate than %v meets it, too: %+v, %v", target, rate, more, err)
		}
	}
	if rate, _, err := MaxRate(Target{Epsilon: 50, Delta: 0.1}, event.AddRemove, func(rate float64) event.Event {
		return event.PoissonSampled{Rate: rate, Of: event.Gaussian{NoiseMultiplier: 5}}
	}); rate != 1 || err != nil {
		t.Errorf("every rate meets the target: %v, %v", rate, err)
	}
	if _, _, err := MaxRate(Target{Epsilon: 1e-9, Delta: 1e-200}, event.AddRemove, run); err == nil {
		t.Error("no rate meets the target, and no error")
	}
}

// The noise for a group of records meets the target for the group.
func TestCalibratedForAGroup(t *testing.T) {
	t.Parallel()
	run := func(sigma float64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: 0.01, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 1000}
	}
	target := Target{Epsilon: 1, Delta: 1e-5, Group: 4}
	c, err := CalibrateNoise(target, event.AddRemove, run)
	if err != nil {
		t.Fatal(err)
	}
	a, err := GroupEpsilon(run(c.NoiseMultiplier), event.AddRemove, 4, target.Delta)
	if err != nil || a.Upper > 1 || a.Lower < 0.999 {
		t.Errorf("noise %v: %+v, %v", c.NoiseMultiplier, a, err)
	}
	one := mustEpsilon(t, run(c.NoiseMultiplier), event.AddRemove, target.Delta)
	if one.Upper > 0.5 {
		t.Errorf("one record: %+v", one)
	}
}

// The rate and the number of steps with balls-and-bins meet the target, and one batch fewer
// or one epoch more does not: also where the target is far above the cost of an epoch.
func TestSolvingWithBalls(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	run := func(sigma float64, batches, epochs int64) event.Event {
		return event.SelfComposed{Of: event.BallsAndBins{Batches: int(batches), Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: epochs}
	}
	at := func(sigma float64, batches, epochs int64) Answer {
		return mustEpsilon(t, run(sigma, batches, epochs), event.AddRemove, 1e-5)
	}
	target := Target{Epsilon: 1, Delta: 1e-5}
	rate, a, err := MaxRate(target, event.AddRemove, func(rate float64) event.Event { return run(2, int64(math.Round(1/rate)), 4) })
	if err != nil || a.Upper > 1 {
		t.Fatalf("rate %v: %+v, %v", rate, a, err)
	}
	if m := int64(math.Round(1 / rate)); at(2, m, 4).Upper > 1 || at(2, m-1, 4).Lower <= 1 {
		t.Errorf("%d batches: epsilon %v, one fewer %v", m, at(2, m, 4).Upper, at(2, m-1, 4).Lower)
	}
	steps, a, err := MaxSteps(target, event.AddRemove, 1e6, func(steps int64) event.Event { return run(3, 20, (steps+19)/20) })
	if err != nil || a.Upper > 1 || steps%20 != 0 {
		t.Fatalf("steps %v: %+v, %v", steps, a, err)
	}
	if e := steps / 20; at(3, 20, e).Upper > 1 || at(3, 20, e+1).Lower <= 1 {
		t.Errorf("%d epochs: epsilon %v, one more %v", e, at(3, 20, e).Upper, at(3, 20, e+1).Lower)
	}
	if _, _, err := MaxSteps(Target{Epsilon: 0.01, Delta: 1e-5}, event.AddRemove, 1e6, func(steps int64) event.Event { return run(1.5, 2, steps) }); err == nil {
		t.Error("an epoch exceeds the target, and no error")
	}
}

// Where the estimate is rough, as at a small ε with few, rare inclusions, the rate is
// sought upwards, too.
func TestMaxRateWhereTheEstimateIsRough(t *testing.T) {
	stattest.SkipNumerics(t)
	rate, a, err := MaxRate(Target{Epsilon: 0.001, Delta: 1e-5}, event.AddRemove, func(rate float64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: rate, Of: event.Gaussian{NoiseMultiplier: 0.8}}, Count: 1e4}
	})
	if err != nil || a.Upper > 0.001 || a.Upper < 0.00099 {
		t.Errorf("rate %g, %+v, %v", rate, a, err)
	}
}
