package report

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// rho of T Gaussian steps is T/(2 sigma^2), and implies epsilon = rho + 2
// sqrt(rho log(1/delta)), which no exact epsilon exceeds (Bun and Steinke 2016,
// proposition 1.3). Twice the shift is four times the rho.
func TestZCDP(t *testing.T) {
	ev := event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 50}, Count: 200}
	if rho := zcdp(ev, event.AddRemove).Rho; math.Abs(rho-0.04) > 1e-15 {
		t.Errorf("rho %g, want 200/5000", rho)
	}
	both := event.Composed{Events: []event.Event{ev, ev}}
	for rel, want := range map[event.Relation]float64{event.AddRemove: 0.08, event.Substitute: 0.32} {
		rho := zcdp(both, rel).Rho
		answer, err := accountant.Epsilon(both, rel, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if bound := rho + 2*math.Sqrt(rho*math.Log(1e5)); math.Abs(rho-want) > 1e-15 || answer.Upper > bound || answer.Upper < bound/2 {
			t.Errorf("%s: rho %g, want %g; epsilon %g, by rho %g", rel, rho, want, answer.Upper, bound)
		}
	}
	if z := zcdp(event.PoissonSampled{Rate: 0.1, Of: event.Gaussian{NoiseMultiplier: 1}}, event.AddRemove); z != nil {
		t.Errorf("a sampled Gaussian has rho %g", z.Rho)
	}
}

// Without secret batches every record is in every step.
func TestVariants(t *testing.T) {
	gauss := event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 40}, Count: 90}
	ev := event.SelfComposed{Of: event.PoissonSampled{Rate: 0.1, Of: gauss.Of}, Count: 90}
	list, err := variants(event.Composed{Events: []event.Event{ev, gauss}}, event.AddRemove, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	want, err := accountant.Epsilon(event.SelfComposed{Of: gauss.Of, Count: 180}, event.AddRemove, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Epsilon < want.Lower || list[0].Epsilon > 1.0001*want.Upper {
		t.Errorf("variants %+v, want epsilon %g", list, want.Upper)
	}
	if list, err := variants(gauss, event.AddRemove, 1e-5); err != nil || len(list) != 0 {
		t.Errorf("variants of full batches: %+v, %v", list, err)
	}
}

// Known batches cost more than secret ones, and with fixed sizes twice a record's
// share of them: it takes the place of another one.
func TestVariantsOfFixedSizes(t *testing.T) {
	gauss := event.Gaussian{NoiseMultiplier: 20}
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute} {
		ev := event.SelfComposed{Of: event.FixedSizeSampled{Population: 100, Batch: 99, Of: gauss}, Count: 20}
		claim, err := accountant.Epsilon(ev, rel, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		list, err := variants(ev, rel, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || list[0].Epsilon < claim.Lower || list[0].Epsilon > 1.1*claim.Upper {
			t.Errorf("%s: without amplification %+v, with it %g", rel, list, claim.Upper)
		}
	}
}
