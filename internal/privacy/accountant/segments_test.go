package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

// Many different steps: each has a lattice of its own, and the bracket stays narrow.
func TestManySegments(t *testing.T) {
	t.Parallel()
	const segments = 60
	var c event.Composed
	for i := range segments {
		x := float64(i) / segments
		of := event.PoissonSampled{Rate: 0.001 + 0.02*x, Of: event.Gaussian{NoiseMultiplier: 0.8 + 3*x*x}}
		c.Events = append(c.Events, event.SelfComposed{Of: of, Count: int64(10 + 5*i)})
	}
	if a := mustEpsilon(t, c, event.AddRemove, 1e-6); a.RelativeWidth() > usualWidth || a.Engine != engineBracket {
		t.Errorf("wide: %+v", a)
	}
}

// A small ε under substitution: the usual losses spread far beyond it, and a few large
// ones decide beside them.
func TestSmallEpsilonOfFourSegments(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	for _, seed := range []uint64{74, 95, 97} {
		name, ask := fourSegments(seed)
		a, err := ask()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !a.Certified || a.RelativeWidth() > usualWidth || !(a.Upper > 1e-3) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Where ε is far below what a ledger costs, δ is nearly 1: a bound on 1-δ says how
// nearly, and no engine has to resolve it.
func TestDeltaNearOne(t *testing.T) {
	t.Parallel()
	for name, ev := range map[string]event.Event{
		"sampled": event.Composed{Events: []event.Event{
			event.SelfComposed{Of: event.PoissonSampled{Rate: 0.0214, Of: event.Gaussian{NoiseMultiplier: 0.226}}, Count: 14072},
			event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 0.0651}, Count: 60}}},
		"randomised response": event.SelfComposed{Of: event.EpsilonDelta{Epsilon: 1.62}, Count: 584},
		"Laplace": event.Composed{Events: []event.Event{event.SelfComposed{Of: event.Laplace{NoiseMultiplier: 4.91}, Count: 880},
			event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 0.824}, Count: 1117}}},
	} {
		a, err := Delta(ev, event.AddRemove, 0.02)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !a.Certified || a.Upper > 1 || a.RelativeWidth() > usualWidth {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// The bracket is as narrow as usual where some losses of a mixed ledger lie far below the
// spacing of the grid, where they have two values only, and where ε is far below what the
// ledger costs.
func TestMixedLedgersAreNarrow(t *testing.T) {
	t.Parallel()
	stattest.SkipNumerics(t)
	poisson := func(q, sigma float64, count int64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: q, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: count}
	}
	fixed := func(population, batch int, sigma float64, count int64) event.Event {
		return event.SelfComposed{Of: event.FixedSizeSampled{Population: population, Batch: batch, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: count}
	}
	pure := func(epsilon float64, count int64) event.Event {
		return event.SelfComposed{Of: event.EpsilonDelta{Epsilon: epsilon}, Count: count}
	}
	for name, c := range map[string]struct {
		rel            event.Relation
		epsilon, delta float64 // one of them is asked for
		events         []event.Event
	}{
		"losses below the spacing": {event.AddRemove, 0, 2.5e-3, []event.Event{
			fixed(167902, 50989, 0.5593, 27), fixed(6717, 558, 27.59, 57663), fixed(135687, 7, 12.67, 51557), fixed(695213, 29674, 0.3885, 7134)}},
		"two values":           {event.Substitute, 0, 6e-6, []event.Event{poisson(0.15, 0.5577, 2), pure(0.178, 984), poisson(1.6e-5, 28.9, 621)}},
		"epsilon below sd":     {event.AddRemove, 0.2267, 0, []event.Event{poisson(1.5e-7, 35, 23543), pure(1.7, 15), fixed(14541, 6, 0.79, 14), pure(0.06, 579), fixed(1029, 11, 6.9, 3)}},
		"common large losses":  {event.AddRemove, 0.00184, 0, []event.Event{poisson(1e-7, 6.9, 8552), poisson(0.048, 3.98, 1), fixed(9135, 1730, 0.4245, 40)}},
		"infinite losses rule": {event.AddRemove, 9.01, 0, []event.Event{poisson(0.0115, 2.06, 72), event.EpsilonDelta{Epsilon: 0.096, Delta: 3e-18}, poisson(0.246, 20.3, 2261)}},
	} {
		ledger := event.Composed{Events: c.events}
		a, err := Delta(ledger, c.rel, c.epsilon)
		if c.delta > 0 {
			a, err = Epsilon(ledger, c.rel, c.delta)
		}
		if err != nil || a.RelativeWidth() > usualWidth || !a.Certified {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// The bound on 1-δ is one: against the closed form of a Gaussian.
func TestBelowBoundsTheRest(t *testing.T) {
	t.Parallel()
	for _, mu := range []float64{1, 5, 20} {
		d := &bracket.Losses{Mu2: mu * mu}
		for _, epsilon := range []float64{0, 1, mu, mu * mu / 4} {
			rest, _, ok := d.Compose(1e-300, 1).Below(epsilon)
			if exact := 1 - gaussianDelta(mu, epsilon/mu-mu/2); !ok || rest < exact*(1-1e-12) {
				t.Errorf("mu %v, epsilon %v: %v below 1-δ = %v", mu, epsilon, rest, exact)
			}
		}
	}
}

// Where the tilt leaves a sum one value, the window has a scale all the same.
func TestOneValueUnderTheTilt(t *testing.T) {
	t.Parallel()
	run := event.SelfComposed{Of: event.FixedSizeSampled{Population: 79363, Batch: 3, Of: event.Gaussian{NoiseMultiplier: 0.0631}}, Count: 96273}
	a, err := Delta(run, event.Substitute, 2.0308652321456577)
	if err != nil || a.Lower < 0.799 {
		t.Errorf("%+v, %v", a, err)
	}
}

// With hardly any noise the answer is that of known batches, which is never below the
// truth: here that of a single step.
func TestHardlyAnyNoise(t *testing.T) {
	const s, q, delta = 0.005, 0.5, 1e-5
	step := event.PoissonSampled{Rate: q, Of: event.Gaussian{NoiseMultiplier: s}}
	for _, of := range []struct {
		relation event.Relation
		group    int
		key      pairs.Key
		loose    float64 // at most
	}{
		{event.AddRemove, 1, pairs.Key{Kind: pairs.Remove, S: s, Q: q}, 1.05},
		{event.Substitute, 1, pairs.Key{Kind: pairs.Substitute, S: s, Q: q}, 4.2}, // a batch without the unit hides the side
		{event.AddRemove, 3, pairs.Key{Kind: pairs.GroupRemove, S: s, Q: q, N: 3}, 1.05},
	} {
		truth := pairs.SingleEpsilon(of.key.Build(), delta)
		a, err := GroupEpsilon(step, of.relation, of.group, delta)
		if err != nil || a.Certified || a.Engine != engineChernoff || !(a.Upper >= truth && a.Upper < of.loose*truth) {
			t.Errorf("%v: %+v, %v, a step costs %g", of.key.Kind, a, err, truth)
		}
		many, err := GroupEpsilon(event.SelfComposed{Of: step, Count: 1 << 40}, of.relation, of.group, delta)
		if err != nil || !(many.Upper > a.Upper) || math.IsInf(many.Upper, 1) {
			t.Errorf("%v, 2⁴⁰ steps: %+v, %v", of.key.Kind, many, err)
		}
		if _, err := NewCurve(step, of.relation); err != nil {
			t.Errorf("%v: %v", of.key.Kind, err)
		}
	}
}

// With 2⁵³ steps no grid is fine enough, and none is tried: the answer is the Rényi bound.
func TestStepsBeyondAnyGrid(t *testing.T) {
	t.Parallel()
	for steps, want := range map[int64]bool{1 << 20: true, 1 << 53: false} {
		k := pairs.Key{Kind: pairs.Remove, S: 1, Q: 1e-9}
		d := &bracket.Losses{Parts: []pairs.Part{{Key: k, Count: steps, Pair: k.Build()}}}
		c := d.Compose(1e-5*grids.TailShare/d.Steps(), 1)
		theta, _ := c.ChernoffDelta(0.4)
		b := &grids.Refiner{Losses: d, C: c, Tail: 1e-5 * grids.TailShare / d.Steps(), Theta: theta, Near: 0.4}
		b.PlanDelta(math.Log(1e-5), certifyWidth)
		if _, ok := b.Plan(); ok != want {
			t.Errorf("%d steps: a plan is %v", steps, ok)
		}
	}
	a := mustEpsilon(t, event.SelfComposed{Of: event.PoissonSampled{Rate: 1e-9, Of: event.Gaussian{NoiseMultiplier: 1}}, Count: 1 << 53}, event.AddRemove, 1e-5)
	if a.Engine != engineChernoff || !(a.Upper > 0.4 && a.Upper < 0.5) {
		t.Errorf("%+v", a)
	}
}

// Ledgers whose brackets need more than a finer grid: sampling with small rates beside much
// else, atoms of two kinds, large losses beside steps that have atoms only, blocks with few
// steps left over.
func TestOddLedgersAreNarrow(t *testing.T) {
	t.Parallel()
	stattest.SkipNumerics(t)
	for _, seed := range []uint64{28, 53, 75, 170, 186} {
		name, ask := oddQuestion(seed)
		a, err := ask()
		if err != nil || a.RelativeWidth() > 1.2*usualWidth {
			t.Errorf("ledger %d is %.2g wide (%v): %s", seed, a.RelativeWidth(), err, name)
		}
	}
}

// Tails that do not matter are cut, however small δ is: one loss near ε has to happen.
func TestTinyDeltaIsNotTheCutOfTheTails(t *testing.T) {
	t.Parallel()
	const steps, epsilon = 239, 0.0404
	run := event.SelfComposed{Of: event.PoissonSampled{Rate: 1.528e-7, Of: event.Gaussian{NoiseMultiplier: 1.1496}}, Count: steps}
	a, err := Delta(run, event.Substitute, epsilon)
	one := pairs.SingleDelta(pairs.Key{Kind: pairs.Substitute, S: 1.1496, Q: 1.528e-7}.Build(), epsilon)
	if err != nil || a.Upper < one || a.Upper > 1e6*one || a.Lower > 2*steps*one {
		t.Errorf("δ of a step is %v, of %v steps %+v, %v", one, steps, a, err)
	}
}
