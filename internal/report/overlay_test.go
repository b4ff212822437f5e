package report_test

import (
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

func TestOverlays(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	list := report.Overlays(run.Draws, run.Rows(), run.Prior, 3)
	if len(list) != 3 {
		t.Fatalf("%d overlays", len(list))
	}
	for _, o := range list {
		if len(o.Prior) != 81 || o.From >= o.To {
			t.Errorf("%s from %g to %g, %d points", o.Name, o.From, o.To, len(o.Prior))
		}
	}
	name := list[0].Name
	for v, r := range run.Draws.Summarise() {
		if r.Variable == name { // made constant but for rounding, as a Cholesky factor's corner is
			for s := range run.Draws.Of(v) {
				run.Draws.Of(v)[s] = 1 + 2e-16*float64(s%2)
			}
		}
	}
	for _, o := range report.Overlays(run.Draws, run.Draws.Summarise(), run.Prior, 3) {
		if o.Name == name {
			t.Errorf("%s does not vary and has an overlay", name)
		}
	}
	if report.Overlays(run.Draws, run.Rows(), nil, 3) != nil {
		t.Error("overlays without a prior")
	}
}
