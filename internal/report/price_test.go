package report_test

import (
	"math"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// askAgain asks the accountant, of nothing but the event, for every number of
// the report that is about privacy.
func askAgain(t *testing.T, p *report.Privacy, ev event.Event) {
	t.Helper()
	relation := event.Relation(p.Neighbours.Relation)
	same := func(name string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %v in the report, %v from the event", name, got, want)
		}
	}
	curve, err := accountant.NewCurve(ev, relation)
	if err != nil {
		t.Fatal(err)
	}
	g, r := p.Guarantee, p.Risk
	mu, regret := curve.DominatingMu()
	same("mu", g.GDP.Mu, mu)
	same("regret", g.GDP.Regret, regret)
	if z := report.ZCDPOf(ev, relation); (z == nil) != (g.ZCDP == nil) || z != nil && z.Rho != g.ZCDP.Rho {
		t.Errorf("zcdp is %+v in the report, %+v from the event", g.ZCDP, z)
	}
	again, err := report.VariantsOf(ev, relation, g.Delta)
	if err != nil || len(again) != len(g.Variants) || len(again) > 0 && again[0] != g.Variants[0] {
		t.Errorf("variants are %+v in the report, %+v from the event (%v)", g.Variants, again, err)
	}
	for _, point := range g.Curve {
		want := curve.Epsilon(point.Delta)
		if point.Delta == g.Delta {
			want = g.Epsilon
		}
		same("epsilon on the curve", point.Epsilon, want)
	}
	same("advantage", r.Advantage, curve.Delta(0))
	for fpr, rate := range map[string]float64{"0.001": 0.001, "0.01": 0.01, "0.05": 0.05, "0.1": 0.1} {
		same("true positives", r.TPRAtFPR[fpr], 1-curve.Tradeoff(rate))
	}
	for _, b := range r.Belief {
		yes := b.Prior * curve.TPR(b.AtFPR)
		if want := yes / (yes + (1-b.Prior)*b.AtFPR); math.Abs(b.MaxPosterior-want) > 1e-15 {
			t.Errorf("belief %+v, want %v", b, want)
		}
	}
	for _, l := range g.Limits {
		odds := l.Prior / (1 - l.Prior) * math.Exp(curve.Loss(g.Delta))
		if want := odds / (1 + odds); math.Abs(l.MaxPosterior-want) > 1e-12 {
			t.Errorf("limit %+v, want %v", l, want)
		}
	}
	for _, point := range r.Tradeoff {
		same("trade-off", point.FNR, curve.Tradeoff(point.FPR))
	}
	repeated, ok := ev.(event.SelfComposed)
	if !ok {
		t.Fatalf("the event is %T", ev)
	}
	for _, s := range p.PerIteration {
		answer, err := accountant.Epsilon(event.SelfComposed{Of: repeated.Of, Count: int64(s.T)}, relation, g.Delta)
		if err != nil {
			t.Fatal(err)
		}
		same("epsilon of the first steps", s.Epsilon, answer.Upper)
	}
	bound, err := accountant.Renyi(ev, relation, g.Delta)
	if err != nil {
		t.Fatal(err)
	}
	same("cross-check", p.Accounting.CrossCheck.Epsilon, bound.Epsilon)
	if b := p.Budget; b != nil {
		others, err := event.UnmarshalDpEvent(b.Before.Event)
		if err != nil {
			t.Fatal(err)
		}
		upper := func(ev event.Event) float64 {
			answer, err := accountant.Epsilon(ev, relation, b.Limit.Delta)
			if err != nil {
				t.Fatal(err)
			}
			return answer.Upper
		}
		same("epsilon of other runs", b.Before.Epsilon, upper(others))
		same("epsilon of this run", b.ThisRun, upper(ev))
		same("epsilon of all runs", b.After, upper(event.Composed{Events: []event.Event{ev, others}}))
		same("what is left", b.Left, b.Limit.Epsilon-b.After)
	}
	for _, k := range g.Together {
		want := report.Together{k.K, float64(k.K) * g.Epsilon, 0}
		if answer, err := accountant.GroupEpsilon(ev, relation, k.K, g.Delta); err == nil {
			want.Epsilon, want.Delta = answer.Upper, g.Delta
		} else { // a chain of k neighbours: delta (1 + e^eps + ... + e^((k-1) eps))
			for i := range k.K {
				want.Delta += g.Delta * math.Exp(float64(i)*g.Epsilon)
			}
		}
		if math.Abs(k.Epsilon-want.Epsilon) > 1e-12 || math.Abs(k.Delta/want.Delta-1) > 1e-12 {
			t.Errorf("together %+v, want %+v", k, want)
		}
	}
}

// The price of several units is the accountant's at the claim's delta. Where it has none, it
// is what the claim implies, unless that is trivial.
func TestGroups(t *testing.T) {
	claim := report.Point{1, 1e-5}
	gaussian := event.Gaussian{NoiseMultiplier: 50}
	known, err := report.TogetherOf(event.SelfComposed{Of: gaussian, Count: 100}, event.AddRemove, claim)
	if err != nil || len(known) != 3 || known[2].K != 10 || known[2].Delta != claim.Delta || known[2].Epsilon <= known[1].Epsilon {
		t.Errorf("full batches: %+v (%v)", known, err)
	}
	implied, err := report.TogetherOf(event.FixedSizeSampled{Population: 100, Batch: 10, Of: gaussian}, event.AddRemove, claim)
	if err != nil || len(implied) != 3 || implied[2].Epsilon != 10 || math.Abs(implied[0].Delta/(claim.Delta*(1+math.E))-1) > 1e-12 {
		t.Errorf("fixed batches: %+v (%v)", implied, err)
	}
	claim.Epsilon = 2
	if few, err := report.TogetherOf(event.FixedSizeSampled{Population: 100, Batch: 10, Of: gaussian}, event.AddRemove, claim); err != nil || len(few) != 2 {
		t.Errorf("groups without a claim: %+v (%v)", few, err)
	}
}

// The spending ends at the claim, rises, and has the steps of the fit.
func TestSpending(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1, SamplingRate: 0.3, Steps: 200})
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	last := p.PerIteration[len(p.PerIteration)-1]
	if last.T != 200 || last.Epsilon != p.Guarantee.Epsilon {
		t.Errorf("spending ends at %+v, want 200 steps and %v", last, p.Guarantee.Epsilon)
	}
	for i, s := range p.PerIteration[1:] {
		if before := p.PerIteration[i]; s.T <= before.T || s.Epsilon <= before.Epsilon {
			t.Errorf("%+v comes after %+v", s, before)
		}
	}
}

// An epoch of several batches is one event: its spending counts steps all the same.
func TestSpendingOfEpochs(t *testing.T) {
	ev := event.SelfComposed{Of: event.BallsAndBins{Batches: 10, Of: event.Gaussian{NoiseMultiplier: 5}}, Count: 4}
	list, err := report.PerIteration(ev, event.AddRemove, report.Point{1, 1e-5}, 40)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 || list[0].T != 10 || list[3].T != 40 {
		t.Errorf("spending %+v, want 4 points of 10 steps", list)
	}
}

// The spending over iterations of a fit whose noise has a schedule is that of its first
// steps, after what was bought; an event of epochs is divided by epochs.
func TestSpendingOfASchedule(t *testing.T) {
	gaussian := func(sigma float64, steps int64) event.Event {
		return event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: sigma}, Count: steps}
	}
	bought := event.Gaussian{NoiseMultiplier: 9}
	p, err := report.PriceOf(event.Composed{Events: []event.Event{bought, gaussian(40, 30), gaussian(20, 70)}}, event.AddRemove, 1e-6, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, first := range []event.Event{
		event.Composed{Events: []event.Event{bought, gaussian(40, 10)}},
		event.Composed{Events: []event.Event{bought, gaussian(40, 20)}},
		event.Composed{Events: []event.Event{bought, gaussian(40, 30)}},
		event.Composed{Events: []event.Event{bought, gaussian(40, 30), gaussian(20, 10)}},
	} {
		want, err := accountant.Epsilon(first, event.AddRemove, 1e-6)
		if got := p.PerIteration[i]; err != nil || got.T != 10*(i+1) || math.Abs(got.Epsilon/want.Upper-1) > 1e-9 {
			t.Errorf("after %d steps %v, want %v, %v", got.T, got.Epsilon, want.Upper, err)
		}
	}
	epochs := event.SelfComposed{Of: event.BallsAndBins{Batches: 50, Of: event.Gaussian{NoiseMultiplier: 5}}, Count: 2}
	if p, err = report.PriceOf(epochs, event.AddRemove, 1e-6, 100); err != nil || len(p.PerIteration) != 2 || p.PerIteration[0].T != 50 {
		t.Errorf("two epochs: %+v, %v", p, err)
	}
}
