package accountant

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

// trial is the law of a trial with few outcomes, from the lowest score to the highest.
type trial []float64

// hockeyStick is the sum of (p - e^epsilon q)+.
func hockeyStick(p, q trial, epsilon float64) (sum float64) {
	for i := range p {
		sum += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return sum
}

// selection is the law of the selected outcome: the best of K trials has a score of at most
// outcome i with probability E[F_i^K], K geometric of mean m.
func (p trial) selection(m float64) trial {
	stop := 1 / m
	atMost := func(f float64) float64 { return stop * f / (1 - (1-stop)*f) }
	best, before := make(trial, len(p)), 0.0
	for i := range p {
		after := math.Min(1, before+p[i])
		best[i] = atMost(after) - atMost(before)
		before = after
	}
	return best
}

// lessCovered is the largest excess of the hockey stick of selections from p and q over
// its price.
func lessCovered(p, q trial, m float64) (excess float64) {
	either := func(e float64) float64 { return math.Max(hockeyStick(p, q, e), hockeyStick(q, p, e)) }
	pair, infinite := pairs.NewProfile(selectionBounds(either, m))
	bestP, bestQ := p.selection(m), q.selection(m)
	for e := 0.0; e < 6; e += 0.05 {
		price := infinite + (1-infinite)*pairs.SingleDelta(pair, e)
		attack := math.Max(hockeyStick(bestP, bestQ, e), hockeyStick(bestQ, bestP, e))
		excess = math.Max(excess, attack-price)
	}
	return excess
}

// The exact law of selections from trials with few outcomes is within the price. The first
// trials come near it: a higher score is likelier without the record, the outcome below it
// with the record, so the loss is nearly three times that of a trial.
func TestSelectionsAreCovered(t *testing.T) {
	const e0 = 0.5
	for _, m := range []float64{1, 2, 10, 1000} {
		for _, top := range []float64{1e-3, 1e-2, 0.1} {
			for _, below := range []float64{1e-3, 0.1} {
				p := trial{0, below * math.Exp(e0), top}
				q := trial{0, below, top * math.Exp(e0)}
				p[0], q[0] = 1-p[1]-p[2], 1-q[1]-q[2]
				if excess := lessCovered(p, q, m); excess > 1e-12 {
					t.Errorf("mean %v, outcomes %v and %v: %v above the price", m, p, q, excess)
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, spread, m := 2+random.IntN(5), 2*random.Float64(), math.Exp(7*random.Float64())
		p, q := make(trial, n), make(trial, n)
		sumP, sumQ := 0.0, 0.0
		for i := range p {
			p[i] = math.Exp(3 * random.NormFloat64())
			q[i] = p[i] * math.Exp(spread*random.NormFloat64())
			sumP, sumQ = sumP+p[i], sumQ+q[i]
		}
		for i := range p {
			p[i], q[i] = p[i]/sumP, q[i]/sumQ
		}
		if excess := lessCovered(p, q, m); excess > 1e-12 {
			t.Errorf("mean %v, outcomes %v and %v: %v above the price", m, p, q, excess)
		}
	}
}

// One trial costs what it costs alone; more cost more, and less than their composition.
func TestSelectionCostsLessThanComposition(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	for _, of := range []event.Event{event.Gaussian{NoiseMultiplier: 6}, poissonRun(0.05, 8, 1000)} {
		for _, rel := range []event.Relation{event.AddRemove, event.Substitute} {
			upper := func(ev event.Event) float64 {
				a, err := Epsilon(ev, rel, 1e-5)
				if err != nil || !a.Certified {
					t.Fatalf("%v: %+v, %v", ev, a, err)
				}
				return a.Upper
			}
			alone, last := upper(of), 0.0
			for _, m := range []float64{1, 4, 16} {
				got := upper(event.Selected{Stop: 1 / m, Of: []event.Event{of, event.Gaussian{NoiseMultiplier: 1e3}}})
				if composed := upper(event.SelfComposed{Of: of, Count: int64(m)}); m > 1 && !(got < composed) {
					t.Errorf("%v, mean %v under %s: %v, composed %v", of, m, rel, got, composed)
				}
				if m == 1 && math.Abs(got-alone) > 1e-3*alone || got < last {
					t.Errorf("%v, mean %v under %s: %v, one trial alone %v, fewer %v", of, m, rel, got, alone, last)
				}
				last = got
			}
			ev := event.Selected{Stop: 0.25, Of: []event.Event{of}}
			if one, two := upper(ev), upper(event.SelfComposed{Of: ev, Count: 2}); !(two > one && two < 2*one) {
				t.Errorf("%v under %s: two selections %v, one %v", of, rel, two, one)
			}
		}
	}
	if _, err := GroupEpsilon(event.Selected{Stop: 0.5, Of: []event.Event{event.Gaussian{NoiseMultiplier: 9}}}, event.AddRemove, 2, 1e-5); err == nil {
		t.Error("a selection was priced for a group of records")
	}
	if a, err := Epsilon(event.Selected{Stop: 0.5, Of: []event.Event{event.EpsilonDelta{Epsilon: 0.1, Delta: 1e-7}}}, event.AddRemove, 1e-5); err != nil || !(a.Upper > 0.1 && a.Upper < 0.3) {
		t.Errorf("a selection from (0.1, 1e-7) trials: %+v, %v", a, err)
	}
}
