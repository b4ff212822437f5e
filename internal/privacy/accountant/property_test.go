package accountant

import (
	"errors"
	"flag"
	"math"
	"os"
	"strconv"
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
	"pgregory.net/rapid"
)

// soak is D3P_SOAK, how many times as many cases to draw, over the whole input
// range; 0 where it is not set.
var soak, _ = strconv.Atoi(os.Getenv("D3P_SOAK"))

var soaking = soak > 0

// check runs the property on n random cases, soak times as many when soaking.
func check(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	seed := "1" // the same runs every time; soaking draws new ones
	switch {
	case soaking:
		n, seed = soak*n, "0"
	case stattest.Race:
		n = (n + 15) / 16
	}
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.seed": seed} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}

func logUniform(t *rapid.T, name string, lo, hi float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
}

type sampledRun struct {
	scheme string
	q      float64
	sigma  float64
	steps  int64
	delta  float64
	rel    event.Relation
}

// anyRun draws a run; when soaking, from all that the accountant promises to
// answer, else from a range that answers fast.
func anyRun() *rapid.Generator[sampledRun] {
	return rapid.Custom(func(t *rapid.T) sampledRun {
		r := sampledRun{
			scheme: rapid.SampledFrom([]string{"poisson", "poisson", "fixed_size"}).Draw(t, "scheme"),
			q:      logUniform(t, "q", 1e-5, 1),
			sigma:  logUniform(t, "sigma", 0.5, 100),
			steps:  int64(logUniform(t, "steps", 1, 2e4)),
			delta:  logUniform(t, "delta", 1e-12, 0.1),
			rel:    rapid.SampledFrom([]event.Relation{event.AddRemove, event.Substitute}).Draw(t, "relation"),
		}
		if soaking {
			r.q = logUniform(t, "wide q", 1e-9, 1)
			r.sigma = logUniform(t, "wide sigma", 0.1, 1000)
			r.steps = int64(logUniform(t, "wide steps", 1, 1e8))
			r.delta = logUniform(t, "wide delta", 1e-15, 0.1)
		}
		if rapid.IntRange(0, 9).Draw(t, "full") == 0 {
			r.q = 1
		}
		return r
	})
}

func (r sampledRun) step() event.Event {
	g := event.Gaussian{NoiseMultiplier: r.sigma}
	if r.scheme == "poisson" {
		return event.PoissonSampled{Rate: r.q, Of: g}
	}
	const n = 1e9
	return event.FixedSizeSampled{Population: n, Batch: max(1, int(r.q*n)), Of: g}
}

func (r sampledRun) event() event.Event { return event.SelfComposed{Of: r.step(), Count: r.steps} }

func (r sampledRun) epsilon(t *rapid.T) Answer {
	return ordered(t, r.event(), r.rel, r.delta)
}

func ordered(t *rapid.T, ev event.Event, rel event.Relation, delta float64) Answer {
	a, err := Epsilon(ev, rel, delta)
	if err != nil {
		t.Fatalf("%+v: %v", ev, err)
	}
	if !(a.Lower >= 0 && a.Lower <= a.Estimate && a.Estimate <= a.Upper && a.Upper < math.Inf(1)) {
		t.Fatalf("%+v: not an ordered finite bracket: %+v", ev, a)
	}
	return a
}

// Every valid input has an ordered, certified, non-negative answer, the add
// direction is not above remove, and the Rényi accountant is not below.
// A contour estimate outside the bracket is an error, so this is also the test
// that the two engines agree.
func TestRandomRunsHaveAnswers(t *testing.T) {
	check(t, 30, func(t *rapid.T) {
		r := anyRun().Draw(t, "run")
		a := r.epsilon(t)
		if !a.Certified {
			t.Errorf("not certified: %+v", a)
		}
		// the bracket is 1e-4 wide nearly everywhere (docs/design/accounting.md)
		if a.Upper-a.Lower > 2e-3*a.Upper {
			t.Errorf("wide: %+v", a)
		}
		if r.rel == event.AddRemove && a.Directions[1].Lower > a.Directions[0].Upper {
			t.Errorf("add above remove: %+v", a.Directions)
		}
		var unsupported *UnsupportedError
		loose, err := Renyi(r.event(), r.rel, r.delta)
		switch {
		case errors.As(err, &unsupported):
		case err != nil:
			t.Fatal(err)
		case loose.Epsilon < a.Lower*(1-1e-9):
			t.Errorf("Rényi %v is below the certified lower %v", loose.Epsilon, a.Lower)
		}
	})
}

// More noise, a smaller rate, fewer steps or a larger delta never cost more.
func TestRandomRunsAreMonotone(t *testing.T) {
	check(t, 18, func(t *rapid.T) {
		r := anyRun().Draw(t, "run")
		less := r
		factor := rapid.Float64Range(1.02, 3).Draw(t, "factor")
		switch rapid.SampledFrom([]string{"sigma", "q", "steps", "delta"}).Draw(t, "what") {
		case "sigma":
			less.sigma *= factor
		case "q":
			less.q /= factor
		case "steps":
			less.steps = max(1, int64(float64(r.steps)/factor))
		case "delta":
			less.delta = math.Min(0.5, r.delta*factor)
		}
		if a, b := r.epsilon(t), less.epsilon(t); b.Lower > a.Upper {
			t.Errorf("%+v costs %v, %+v costs %v", r, a.Upper, less, b.Lower)
		}
	})
}

// A ledger in two parts costs what it costs in one; parts that differ by a
// rounding error are not merged, and meet in the transform only.
func TestRandomRunsCompose(t *testing.T) {
	check(t, 9, func(t *rapid.T) {
		r := anyRun().Draw(t, "run")
		if r.steps < 2 {
			r.steps = 2
		}
		whole := r.epsilon(t)
		part := r
		part.steps = rapid.Int64Range(1, r.steps-1).Draw(t, "first part")
		rest := r
		rest.steps = r.steps - part.steps
		rest.sigma *= 1 + 1e-13
		split := ordered(t, event.Composed{Events: []event.Event{part.event(), rest.event()}}, r.rel, r.delta)
		if split.Lower > whole.Upper*(1+1e-9) || whole.Lower > split.Upper*(1+1e-9) {
			t.Errorf("in one part %+v, in two %+v", whole, split)
		}
	})
}

// A wide bracket has a note.
func TestWideBracketsSaySo(t *testing.T) {
	for _, width := range []float64{certifyWidth, 0.02} {
		a, err := answer(mnist(1.5), event.AddRemove, 1, width, func(d *direction, width float64) (Direction, error) { return d.epsilon(1e-5, width) })
		if err != nil {
			t.Fatal(err)
		}
		if wide := a.RelativeWidth() > usualWidth; wide != (len(a.Notes) == 1) || wide != (width > usualWidth) {
			t.Errorf("relative width %v, notes %q", a.RelativeWidth(), a.Notes)
		}
	}
}

// Ledgers of several segments in which rare, large losses decide: two halves
// cost what the whole costs, a second segment with less noise costs more and one
// with more noise less, and the brackets are as narrow as those of one segment.
func TestRareLossesInLedgers(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	const delta = 6.1e-13
	run := func(sigma float64, steps int64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: 1.9e-5, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: steps}
	}
	epsilon := func(segments ...event.Event) Answer {
		a := mustEpsilon(t, event.Composed{Events: segments}, event.AddRemove, delta)
		if a.Upper-a.Lower > 1e-4*a.Upper {
			t.Errorf("wide: %+v", a)
		}
		return a
	}
	whole := epsilon(run(0.81, 5200))
	halves := epsilon(run(0.81, 2600), run(0.81*(1+1e-13), 2600))
	if halves.Lower > whole.Upper || whole.Lower > halves.Upper {
		t.Errorf("in one part %+v, in two %+v", whole, halves)
	}
	if mixed := epsilon(run(0.81, 2600), run(0.9, 2600)); mixed.Lower > whole.Upper || mixed.Upper < epsilon(run(0.9, 5200)).Lower {
		t.Errorf("noise 0.81 costs %+v, half with 0.9 %+v", whole, mixed)
	}
	if more := epsilon(run(0.81, 5200), event.Gaussian{NoiseMultiplier: 3000}); more.Upper < whole.Lower {
		t.Errorf("with a Gaussian release more %+v, without %+v", more, whole)
	}
	back, err := Delta(run(0.81, 5200), event.AddRemove, whole.Estimate)
	if err != nil {
		t.Fatal(err)
	}
	if !(back.Lower < delta*1.001 && back.Upper > delta*0.999 && back.Upper-back.Lower < 2e-4*back.Upper) {
		t.Errorf("at epsilon %v delta is %+v", whole.Estimate, back)
	}
}

// ε(δ) and δ(ε) are inverse to each other.
func TestRandomRunsInvert(t *testing.T) {
	check(t, 8, func(t *rapid.T) {
		r := anyRun().Draw(t, "run")
		a := r.epsilon(t)
		back, err := Delta(r.event(), r.rel, a.Upper)
		if err != nil {
			t.Fatal(err)
		}
		if back.Lower > r.delta*(1+1e-9) {
			t.Errorf("at the certified epsilon %v delta is at least %v, not %v", a.Upper, back.Lower, r.delta)
		}
		if a.Lower == 0 {
			return
		}
		if back, err = Delta(r.event(), r.rel, a.Lower); err != nil {
			t.Fatal(err)
		}
		if back.Upper < r.delta*(1-1e-9) {
			t.Errorf("at the lower epsilon %v delta is at most %v, not %v", a.Lower, back.Upper, r.delta)
		}
	})
}

// A calibrated multiplier is certified, and a little less noise is too little.
func TestRandomCalibrations(t *testing.T) {
	check(t, 5, func(t *rapid.T) {
		r := anyRun().Draw(t, "run")
		target := Target{Epsilon: logUniform(t, "epsilon", 0.05, 20), Delta: r.delta}
		mechanism := func(sigma float64) event.Event {
			r.sigma = sigma
			return r.event()
		}
		c, err := CalibrateNoise(target, r.rel, mechanism)
		var infeasible *InfeasibleError
		if errors.As(err, &infeasible) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if again := ordered(t, mechanism(c.NoiseMultiplier), r.rel, r.delta); c.Certified.Upper > target.Epsilon || again.Lower > target.Epsilon {
			t.Errorf("target %v: %+v, again %+v", target, c, again)
		}
		if less := ordered(t, mechanism(c.NoiseMultiplier*0.999), r.rel, r.delta); less.Upper < target.Epsilon*(1-1e-6) {
			t.Errorf("target %v: %v certifies %v, but 0.1%% less noise only %v", target, c.NoiseMultiplier, c.Certified.Upper, less.Upper)
		}
	})
}

// anyLedger draws a composition of every kind of event.
func anyLedger() *rapid.Generator[event.Event] {
	return rapid.Custom(func(t *rapid.T) event.Event {
		g := event.Gaussian{NoiseMultiplier: logUniform(t, "sigma", 0.7, 50)}
		var of event.Event
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			of = event.PoissonSampled{Rate: logUniform(t, "q", 1e-4, 1), Of: g}
		case 1:
			of = event.Laplace{NoiseMultiplier: logUniform(t, "b", 0.5, 100)}
		case 2:
			of = event.DiscreteGaussian{NoiseMultiplier: g.NoiseMultiplier, Sensitivity: rapid.IntRange(1, 4).Draw(t, "sensitivity")}
		case 3:
			of = event.EpsilonDelta{Epsilon: logUniform(t, "epsilon", 1e-3, 1), Delta: logUniform(t, "step delta", 1e-18, 1e-16)}
		case 4:
			m := int(logUniform(t, "m", 1, 200))
			of = event.BallsAndBins{Batches: m, Of: g}
			if !soaking { // half a minute beside other losses
				of = event.PoissonSampled{Rate: 1 / float64(m), Of: g}
			}
		default:
			of = event.FixedSizeSampled{Population: 1000, Batch: rapid.IntRange(1, 1000).Draw(t, "B"), Of: g}
		}
		return event.SelfComposed{Of: of, Count: int64(logUniform(t, "count", 1, 30))}
	})
}

// Ledgers of mixed events have ordered answers that invert, whatever they mix.
func TestRandomLedgers(t *testing.T) {
	stattest.SkipNumerics(t)
	check(t, 2, func(t *rapid.T) {
		ledger := event.Composed{Events: rapid.SliceOfN(anyLedger(), 1, 3).Draw(t, "ledger")}
		delta := logUniform(t, "delta", 1e-9, 1e-2)
		a := ordered(t, ledger, event.AddRemove, delta)
		back, err := Delta(ledger, event.AddRemove, a.Upper)
		if err != nil {
			t.Fatal(err)
		}
		if back.Lower > delta*(1+1e-9) {
			t.Errorf("at the certified epsilon %v delta is at least %v, not %v", a.Upper, back.Lower, delta)
		}
	})
}
