package accountant

import (
	"errors"
	"math"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
	"github.com/google/go-cmp/cmp"
)

// However a ledger is written down, the same steps cost the same, to the bit where
// they are merged.
func TestEqualLedgers(t *testing.T) {
	gaussian := func(sigma float64) event.Event { return event.Gaussian{NoiseMultiplier: sigma} }
	times := func(of event.Event, count int64) event.Event { return event.SelfComposed{Of: of, Count: count} }
	all := func(events ...event.Event) event.Event { return event.Composed{Events: events} }
	poisson := event.PoissonSampled{Rate: 0.01, Of: gaussian(1)}
	for name, c := range map[string][2]event.Event{
		"equal segments":             {all(times(poisson, 200), times(poisson, 300)), times(poisson, 500)},
		"segments of segments":       {times(all(poisson, gaussian(30), poisson), 50), all(times(gaussian(30), 50), times(poisson, 100))},
		"nothing between":            {all(times(poisson, 100), times(gaussian(1), 0), all()), times(poisson, 100)},
		"Gaussians":                  {all(gaussian(3), gaussian(4)), gaussian(2.4)},
		"one batch of all":           {event.BallsAndBins{Batches: 1, Of: gaussian(2)}, gaussian(2)},
		"a sample of all":            {event.PoissonSampled{Rate: 1, Of: event.Laplace{NoiseMultiplier: 2}}, event.Laplace{NoiseMultiplier: 2}},
		"releases on one sample":     {event.PoissonSampled{Rate: 0.01, Of: times(gaussian(2), 4)}, poisson},
		"noise that costs nothing":   {all(poisson, event.EpsilonDelta{}), poisson},
		"a subset that is everybody": {event.FixedSizeSampled{Population: 5, Batch: 5, Of: gaussian(4)}, gaussian(2)},
	} {
		a, b := mustEpsilon(t, c[0], event.AddRemove, 1e-6), mustEpsilon(t, c[1], event.AddRemove, 1e-6)
		if a.Upper == 0 || math.Abs(a.Upper-b.Upper) > 1e-14*b.Upper || math.Abs(a.Lower-b.Lower) > 1e-14*b.Lower {
			t.Errorf("%s: %+v, want %+v", name, a, b)
		}
	}
}

// An event without a release costs nothing.
func TestNothing(t *testing.T) {
	for _, ev := range []event.Event{event.Composed{}, event.SelfComposed{Of: mnist(1), Count: 0}} {
		d, err := Delta(ev, event.AddRemove, 0)
		if e := mustEpsilon(t, ev, event.AddRemove, 1e-12); err != nil || e.Upper != 0 || d.Upper != 0 || len(e.Notes) > 0 {
			t.Errorf("%+v costs %+v, delta %v (%v)", ev, e, d.Upper, err)
		}
	}
}

// Steps that are too many to be counted are refused, wherever they come from: a sum of
// counts that ran over would be a small price.
func TestUncountableSteps(t *testing.T) {
	most := func(of event.Event, count int64) event.Event { return event.SelfComposed{Of: of, Count: count} }
	sampled := event.PoissonSampled{Rate: 0.5, Of: event.Gaussian{NoiseMultiplier: 1e10}}
	balls := event.BallsAndBins{Batches: 1 << 40, Of: event.Gaussian{NoiseMultiplier: 1e10}}
	for name, ev := range map[string]event.Event{
		"a sum":     event.Composed{Events: []event.Event{most(sampled, math.MaxInt64), most(sampled, math.MaxInt64)}},
		"a product": most(most(sampled, 1<<40), 1<<40),
		"batches":   most(balls, 1<<40),
		"many":      most(sampled, 1<<60),
	} {
		var input *InputError
		if a, err := Epsilon(ev, event.AddRemove, 1e-5); !errors.As(err, &input) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	var infeasible *InfeasibleError
	if a, err := Epsilon(event.Gaussian{NoiseMultiplier: 1e-160}, event.AddRemove, 1e-5); !errors.As(err, &infeasible) {
		t.Errorf("hardly any noise: %+v, %v", a, err)
	}
}

// Where epsilon is nearly 0 the bracket around it still holds: at a delta of about
// δ(0), where it may be 0, and a little below it covers that delta; above δ(0) it is 0.
func TestNearZero(t *testing.T) {
	stattest.SkipNumerics(t)
	run := event.SelfComposed{Of: event.PoissonSampled{Rate: 0.01, Of: event.Gaussian{NoiseMultiplier: 2}}, Count: 20}
	zero, err := Delta(run, event.AddRemove, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, delta := range []float64{zero.Estimate, zero.Lower * (1 - 1e-2)} {
		a := mustEpsilon(t, run, event.AddRemove, delta)
		if !(0 <= a.Lower && a.Lower <= a.Upper && a.Upper < 1e-2) {
			t.Errorf("delta %g: %+v", delta, a)
		}
		back, err := Delta(run, event.AddRemove, a.Upper)
		if err != nil || back.Lower > delta {
			t.Errorf("epsilon %g has at least delta %g, want at most %g (%v)", a.Upper, back.Lower, delta, err)
		}
	}
	if a := mustEpsilon(t, run, event.AddRemove, zero.Upper*(1+1e-3)); a.Upper != 0 {
		t.Errorf("above δ(0): %+v", a)
	}
}

// Calibration follows, where an epoch is of balls and bins, the Poisson steps of the
// same rate, however deep it stands.
func TestWithoutBalls(t *testing.T) {
	g := event.Gaussian{NoiseMultiplier: 3}
	got := withoutBalls(event.Composed{Events: []event.Event{g, event.SelfComposed{Of: event.BallsAndBins{Batches: 5, Of: g}, Count: 2}}})
	want := event.Composed{Events: []event.Event{g, event.SelfComposed{
		Of: event.SelfComposed{Of: event.PoissonSampled{Rate: 0.2, Of: g}, Count: 5}, Count: 2,
	}}}
	if d := cmp.Diff(event.Event(want), got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A search passes on the accountant's error about the mechanism, and names what is
// wrong with a target.
func TestSearchesThatFail(t *testing.T) {
	unsupported := func(float64) event.Event { return event.Shuffled{Of: event.Gaussian{NoiseMultiplier: 1}} }
	rare := func(sigma float64) event.Event {
		return event.PoissonSampled{Rate: 1e-6, Of: event.Gaussian{NoiseMultiplier: sigma}}
	}
	never := func(float64) event.Event { return event.Gaussian{NoiseMultiplier: 0.1} }
	risk := func(r Risk, mechanism func(float64) event.Event) error {
		_, _, err := CalibrateRisk(r, event.AddRemove, mechanism)
		return err
	}
	noise := func(target Target, mechanism func(float64) event.Event) error {
		_, err := CalibrateNoise(target, event.AddRemove, mechanism)
		return err
	}
	steps := func(target Target, mechanism func(float64) event.Event) error {
		_, _, err := MaxSteps(target, event.AddRemove, 100, func(int64) event.Event { return mechanism(1) })
		return err
	}
	for name, c := range map[string]struct{ got, want error }{
		"risk of no rate":      {risk(Risk{0.5, 0}, rare), new(InputError)},
		"risk of every rate":   {risk(Risk{0.5, 1}, rare), new(InputError)},
		"certain risk":         {risk(Risk{1, 0.1}, rare), new(InputError)},
		"risk, unsupported":    {risk(Risk{0.5, 0.1}, unsupported), new(UnsupportedError)},
		"risk met by sampling": {risk(Risk{0.5, 0.1}, rare), new(InfeasibleError)},
		"risk never met":       {risk(Risk{0.5, 0.1}, never), new(InfeasibleError)},
		"noise, unsupported":   {noise(Target{Epsilon: 1, Delta: 1e-5}, unsupported), new(UnsupportedError)},
		"steps of no target":   {steps(Target{Epsilon: 1, Delta: 0}, rare), new(InputError)},
		"steps, unsupported":   {steps(Target{Epsilon: 1, Delta: 1e-5}, unsupported), new(UnsupportedError)},
		"steps too dear":       {steps(Target{Epsilon: 1, Delta: 1e-5}, never), new(InfeasibleError)},
	} {
		var same bool
		switch c.want.(type) {
		case *InputError:
			same = errors.As(c.got, new(*InputError))
		case *UnsupportedError:
			same = errors.As(c.got, new(*UnsupportedError))
		case *InfeasibleError:
			same = errors.As(c.got, new(*InfeasibleError))
		}
		if !same {
			t.Errorf("%s: %v, want %T", name, c.got, c.want)
		}
	}
}

// The Rényi divergences of Laplace noise and of randomised response, against their
// integrals and sums.
func TestRenyiClosedForms(t *testing.T) {
	divergence := func(ev event.Event, order int) float64 {
		comp, err := compile(ev, event.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		rho, err := comp.directions[0].renyi(order)
		if err != nil {
			t.Fatal(err)
		}
		return rho
	}
	for _, order := range []int{2, 3, 16} {
		a := float64(order)
		for _, b := range []float64{0.5, 2, 30} {
			sum := 0.0 // ∫ p(x)^a q(x)^{1-a} dx, p and q of scale b at 0 and 1
			for _, piece := range [][2]float64{{-60 * b, 0}, {0, 1}, {1, 1 + 60*b}} {
				const panels = 400
				width := (piece[1] - piece[0]) / panels
				for k := range panels {
					for j, u := range numeric.Gauss16.X {
						x := piece[0] + width*(float64(k)+u)
						sum += width * numeric.Gauss16.W[j] * math.Exp((-a*math.Abs(x)+(a-1)*math.Abs(x-1))/b) / (2 * b)
					}
				}
			}
			near(t, "Laplace", divergence(event.SelfComposed{Of: event.Laplace{NoiseMultiplier: b}, Count: 3}, order), 3*math.Log(sum)/(a-1), 1e-10)
		}
		for _, e := range []float64{0.1, 1, 5} {
			p := 1 / (1 + math.Exp(-e))
			want := math.Log(math.Pow(p, a)*math.Pow(1-p, 1-a)+math.Pow(1-p, a)*math.Pow(p, 1-a)) / (a - 1)
			near(t, "randomised response", divergence(event.EpsilonDelta{Epsilon: e}, order), want, 1e-10)
		}
	}
	// the deltas of such steps are paid from the target
	if _, err := Renyi(event.EpsilonDelta{Epsilon: 1, Delta: 1e-5}, event.AddRemove, 1e-6); !errors.As(err, new(*InfeasibleError)) {
		t.Errorf("a target below the delta of a step: %v", err)
	}
}
