package accountant

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// Balle and Wang 2018, Theorem 8, with the cdf evaluated the plain way.
func TestGaussianClosedForm(t *testing.T) {
	for _, mu := range []float64{0.05, 0.3, 1, 3} {
		for _, eps := range []float64{0, 0.1, 1, 5} {
			want := numeric.NormalTail(eps/mu-mu/2) - math.Exp(eps)*numeric.NormalTail(eps/mu+mu/2)
			if got := gaussianDelta(mu, eps/mu-mu/2); math.Abs(got-want) > 1e-10*want+1e-14 {
				t.Errorf("mu %v, eps %v: delta %v, want %v", mu, eps, got, want)
			}
		}
	}
	for _, c := range []struct{ mu, delta float64 }{{1e-9, 1e-12}, {1, 1e-5}, {1e5, 1e-15}, {30, 0.9}} {
		e := gaussianEpsilon(c.mu, c.delta)
		near(t, "delta(epsilon(delta))", gaussianDelta(c.mu, e/c.mu-c.mu/2), c.delta, 1e-9)
	}
}

// Near δ 0 and 1, and near ε 0, the bracket has the exact value. The numbers are of 60 digits, by
// mpmath.
func TestGaussianAtTheEnds(t *testing.T) {
	for _, c := range []struct{ z, delta, epsilon float64 }{
		{0.08540730358132696, 0.999999, 11.61550033611228337},
		{0.050185880908418586, 0.999999999, 77.82172277203231938},
		{0.011030938046758641, 0.9999999999999999, 3363.808438691792957},
		{0.8394869706509269, 0.4485580026057844, 2.766045146863999673e-6},
		{8.169291799283705, 0.048803902873259294, 5.625282135646283245e-9},
		{109.64464161038364, 0.0036384896868551318, 1.031387444272416086e-15},
		{753756.4827622599, 5.292721051475923e-07, 3.123706387740667642e-18},
		{0.25, 1e-280, 150.8769025647920194},
	} {
		a := mustEpsilon(t, event.Gaussian{NoiseMultiplier: c.z}, event.AddRemove, c.delta)
		if width := 1e-10*c.epsilon + 1e-13/c.z; !(a.Lower <= c.epsilon && c.epsilon <= a.Upper && a.Upper-a.Lower < width) {
			t.Errorf("noise multiplier %v, delta %v: epsilon in [%v, %v], want %v", c.z, c.delta, a.Lower, a.Upper, c.epsilon)
		}
	}
	for _, delta := range []float64{5e-324, 1e-300} { // numbers of few digits
		if _, err := Epsilon(event.Gaussian{NoiseMultiplier: 1}, event.AddRemove, delta); err == nil {
			t.Errorf("delta %v has an epsilon", delta)
		}
	}
	for _, ev := range []event.Event{event.Gaussian{NoiseMultiplier: 1}, event.PoissonSampled{Rate: 0.5, Of: event.Gaussian{NoiseMultiplier: 1}}} {
		for _, count := range []int64{1, 3} {
			if a, err := Delta(event.SelfComposed{Of: ev, Count: count}, event.AddRemove, 1e4); err != nil || !(a.Upper > 0) {
				t.Errorf("delta at most %v of %v times %+v, %v: losses have no end", a.Upper, count, ev, err)
			}
		}
	}
	if a, err := Delta(event.Laplace{NoiseMultiplier: 1}, event.AddRemove, 1.5); err != nil || a.Upper != 0 {
		t.Errorf("delta at most %v, %v: losses end at 1", a.Upper, err)
	}
}

// gaussianDelta of a small μ is the integral of φ(x+v)(1-e^{-μv}) over v > 0.
func TestGaussianSmallMu(t *testing.T) {
	for _, mu := range []float64{1e-9, 1e-3, 0.05, 0.3, 0.5} {
		for x := -26.5; x < 36; x += 0.75 {
			integral := 0.0
			const width = 0.25
			for a := 0.0; a < math.Max(12, 12-x); a += width {
				for j, u := range numeric.Gauss16.X {
					v := a + width*u
					integral += width * numeric.Gauss16.W[j] * numeric.NormalPDF(x+v) * -math.Expm1(-mu*v)
				}
			}
			near(t, fmt.Sprintf("delta at mu %v, x %v", mu, x), gaussianDelta(mu, x), integral, 3e-13)
		}
	}
}

func TestGaussianMu(t *testing.T) {
	for _, target := range []Target{{Epsilon: 1, Delta: 1e-5}, {Epsilon: 0.01, Delta: 1e-10}, {Epsilon: 100, Delta: 1e-3}, {Delta: 0.01}, {Epsilon: 1e-6, Delta: 1e-15}} {
		mu := GaussianMu(target)
		near(t, "delta at mu", gaussianDelta(mu, target.Epsilon/mu-mu/2), target.Delta, 1e-9)
	}
	if !math.IsNaN(GaussianMu(Target{Epsilon: -1, Delta: 0.1})) || !math.IsNaN(GaussianMu(Target{Epsilon: 1, Delta: 0})) {
		t.Error("a target out of range has a mu")
	}
}

func mustEpsilon(t testing.TB, ev event.Event, rel event.Relation, delta float64) Answer {
	t.Helper()
	a, err := Epsilon(ev, rel, delta)
	if err != nil {
		t.Fatalf("%+v %s: %v", ev, rel, err)
	}
	return a
}

// One Laplace release: δ(ε) = 1 - e^{(ε - 1/b)/2}.
func TestLaplace(t *testing.T) {
	for _, b := range []float64{0.05, 0.5, 1, 10} {
		for _, delta := range []float64{1e-9, 1e-3} {
			want := math.Max(0, 1/b+2*math.Log1p(-delta))
			near(t, "epsilon", mustEpsilon(t, event.Laplace{NoiseMultiplier: b}, event.AddRemove, delta).Upper, want, 1e-9)
			want = math.Max(0, 2/b+2*math.Log1p(-delta))
			near(t, "epsilon", mustEpsilon(t, event.Laplace{NoiseMultiplier: b}, event.Substitute, delta).Upper, want, 1e-9)
		}
	}
}

// Both directions of Laplace noise have the same losses and are composed once; those of a
// sampled Gaussian differ.
func TestEqualDirections(t *testing.T) {
	for _, of := range []struct {
		ev    event.Event
		equal bool
	}{
		{event.SelfComposed{Of: event.Laplace{NoiseMultiplier: 5}, Count: 3}, true},
		{event.SelfComposed{Of: event.PoissonSampled{Rate: 0.1, Of: event.Gaussian{NoiseMultiplier: 1}}, Count: 3}, false},
	} {
		a := mustEpsilon(t, of.ev, event.AddRemove, 1e-3)
		remove, add := a.Directions[0], a.Directions[1]
		if remove.Name != "remove" || add.Name != "add" {
			t.Errorf("%v: directions %q and %q", of.ev, remove.Name, add.Name)
		}
		if equal := remove.Upper == add.Upper && remove.Lower == add.Lower; equal != of.equal || !(add.Upper > 0) {
			t.Errorf("%v: %+v and %+v, equal: %v", of.ev, remove, add, of.equal)
		}
	}
}

// Steps (ε, 0): the composition of randomised responses has binomial losses.
func TestBlackBoxComposition(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	const eps, delta0, steps = 0.3, 1e-7, 40
	ev := event.SelfComposed{Of: event.EpsilonDelta{Epsilon: eps, Delta: delta0}, Count: steps}
	// Kairouz, Oh, Viswanath 2015, arXiv:1311.0776, Theorem 3.3, as a sum
	deltaAt := func(e float64) float64 {
		p := math.Exp(eps) / (1 + math.Exp(eps))
		sum, binom := 0.0, 1.0
		for k := 0; k <= steps; k++ { // k losses of -eps
			loss := eps * float64(steps-2*k)
			if loss > e {
				sum += binom * math.Pow(p, float64(steps-k)) * math.Pow(1-p, float64(k)) * -math.Expm1(e-loss)
			}
			binom = binom * float64(steps-k) / float64(k+1)
		}
		finite := math.Pow(1-delta0, steps)
		return 1 - finite + finite*sum
	}
	for _, e := range []float64{0.5, 6} {
		a, err := Delta(ev, event.AddRemove, e)
		if err != nil {
			t.Fatal(err)
		}
		want := deltaAt(e)
		if !(a.Lower <= want*(1+1e-9) && want <= a.Upper*(1+1e-9) && a.Upper <= want*(1+2e-3)) {
			t.Errorf("delta(%v) in [%v, %v], want %v", e, a.Lower, a.Upper, want)
		}
	}
	var infeasible *InfeasibleError
	if _, err := Epsilon(ev, event.AddRemove, 1e-6); !errors.As(err, &infeasible) {
		t.Errorf("a target below the sum of the deltas: %v", err)
	}
}

// For σ of many integers the discrete Gaussian costs what the Gaussian costs.
func TestDiscreteGaussianIsNearGaussian(t *testing.T) {
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute} {
		d := mustEpsilon(t, event.SelfComposed{Of: event.DiscreteGaussian{NoiseMultiplier: 10, Sensitivity: 3}, Count: 50}, rel, 1e-6)
		g := mustEpsilon(t, event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 10}, Count: 50}, rel, 1e-6)
		near(t, string(rel), d.Estimate, g.Estimate, 1e-3)
	}
}

func TestRefusals(t *testing.T) {
	g := event.Gaussian{NoiseMultiplier: 1}
	for name, c := range map[string]struct {
		ev  event.Event
		rel event.Relation
	}{
		"shuffle add/remove":        {event.Shuffled{Of: g}, event.AddRemove},
		"balls substitute":          {event.BallsAndBins{Batches: 10, Of: g}, event.Substitute},
		"fixed size zero-out":       {event.FixedSizeSampled{Population: 10, Batch: 2, Of: g}, event.ZeroOut},
		"sampled Laplace":           {event.PoissonSampled{Rate: 0.1, Of: event.Laplace{NoiseMultiplier: 1}}, event.AddRemove},
		"Poisson of fixed size":     {event.PoissonSampled{Rate: 0.1, Of: event.FixedSizeSampled{Population: 10, Batch: 2, Of: g}}, event.AddRemove},
		"non-private":               {event.Composed{Events: []event.Event{g, event.NonPrivate{}}}, event.AddRemove},
		"too wide discrete":         {event.DiscreteGaussian{NoiseMultiplier: 1e6, Sensitivity: 1}, event.AddRemove},
		"unknown relation":          {g, "friends"},
		"sampled black box":         {event.PoissonSampled{Rate: 0.5, Of: event.EpsilonDelta{Epsilon: 1}}, event.Substitute},
		"shuffled black box":        {event.Shuffled{Of: event.EpsilonDelta{Epsilon: 1}}, event.ZeroOut},
		"balls of discrete":         {event.BallsAndBins{Batches: 2, Of: event.DiscreteGaussian{NoiseMultiplier: 1, Sensitivity: 1}}, event.AddRemove},
		"fixed size of a non-event": {event.FixedSizeSampled{Population: 10, Batch: 2, Of: event.NonPrivate{}}, event.Substitute},
	} {
		var unsupported *UnsupportedError
		if _, err := Epsilon(c.ev, c.rel, 1e-5); !errors.As(err, &unsupported) {
			t.Errorf("%s: error %v, want an UnsupportedError", name, err)
		}
	}
	var input *InputError
	for _, delta := range []float64{1, -1, math.NaN(), math.Inf(1)} {
		if _, err := Epsilon(g, event.AddRemove, delta); !errors.As(err, &input) {
			t.Errorf("delta %v: error %v", delta, err)
		}
	}
	for _, eps := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Delta(g, event.AddRemove, eps); !errors.As(err, &input) {
			t.Errorf("epsilon %v: error %v", eps, err)
		}
	}
}

// Shuffling costs what the same epochs cost without amplification.
func TestShuffledEpochs(t *testing.T) {
	ev := event.SelfComposed{Of: event.Shuffled{Of: event.Gaussian{NoiseMultiplier: 1.5}}, Count: 20}
	near(t, "zero-out", mustEpsilon(t, ev, event.ZeroOut, 1.0/60000).Upper, 16.19212632678139, 1e-9)
	near(t, "substitute", mustEpsilon(t, ev, event.Substitute, 1.0/60000).Upper, 41.76320573417472, 1e-9)
}

func TestNestedSamplingMultiplies(t *testing.T) {
	g := event.Gaussian{NoiseMultiplier: 1}
	a := mustEpsilon(t, event.PoissonSampled{Rate: 0.5, Of: event.PoissonSampled{Rate: 0.1, Of: g}}, event.AddRemove, 1e-6)
	b := mustEpsilon(t, event.PoissonSampled{Rate: 0.05, Of: g}, event.AddRemove, 1e-6)
	near(t, "epsilon", a.Upper, b.Upper, 1e-12)
	// two Gaussians on one sample are one with 1/z² = Σ 1/z²
	a = mustEpsilon(t, event.PoissonSampled{Rate: 0.05, Of: event.Composed{Events: []event.Event{event.Gaussian{NoiseMultiplier: 1.25}, event.Gaussian{NoiseMultiplier: 5.0 / 3}}}}, event.AddRemove, 1e-6)
	near(t, "epsilon", a.Upper, b.Upper, 1e-12)
}
