package report_test

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// The largest true-positive rate that (epsilon, 1e-5) allows at 1 % false positives,
// computed by hand.
func TestTruePositives(t *testing.T) {
	for epsilon, want := range map[float64]float64{0.1: 0.011, 0.5: 0.017, 1: 0.027, 2: 0.074, 3: 0.201, 5: 0.993, 1000: 1} {
		if got := report.TruePositives(report.Point{epsilon, 1e-5}, 0.01); math.Abs(got-want) > 6e-4 {
			t.Errorf("epsilon %g: %.4f, want %.3f", epsilon, got, want)
		}
		if got := report.TruePositives(report.Point{epsilon, 1e-5}, 0); got != 1e-5 {
			t.Errorf("epsilon %g, without false positives: %g, want 1e-5", epsilon, got)
		}
	}
}

// A Gaussian mechanism with mu = 0.268 (epsilon 1 at delta 1e-5) allows an
// advantage of 0.107 and 2.0 % true positives at 1 % false ones: the same table.
func TestRiskOfGaussian(t *testing.T) {
	curve, err := accountant.NewCurve(event.Gaussian{NoiseMultiplier: 1 / 0.268}, event.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	r := report.RiskOf(curve)
	if math.Abs(r.Advantage-0.1066) > 5e-4 {
		t.Errorf("advantage %.4f, want 0.107", r.Advantage)
	}
	if math.Abs(r.TPRAtFPR["0.01"]-0.0197) > 5e-4 {
		t.Errorf("true positives %.4f, want 0.020", r.TPRAtFPR["0.01"])
	}
	// 1 % false against 1.97 % true positives take a belief of 1/2 to 0.66.
	if b := r.Belief[7]; b.Prior != 0.5 || b.AtFPR != 0.01 || math.Abs(b.MaxPosterior-0.663) > 5e-3 {
		t.Errorf("belief %+v, want 0.5 to become 0.663", b)
	}
	if s := report.Odds(r); !strings.Contains(s, "find at most 20;") {
		t.Error(s)
	}
}

// Every test of membership that is listed finds more than chance, and less than all.
// The table of beliefs has a column for each false-positive rate, named once, and a
// row for each prior.
func TestTablesOfRisk(t *testing.T) {
	p, err := reporttest.Example(t, plan.Config{Epsilon: 1}).Privacy()
	if err != nil {
		t.Fatal(err)
	}
	tests := p.Risk.Tests()
	if len(tests) != len(report.FalsePositives) {
		t.Errorf("%d tests of membership, want %d", len(tests), len(report.FalsePositives))
	}
	for _, row := range tests {
		if !(row.TPR > row.FPR && row.TPR < 1) {
			t.Errorf("a test of membership finds %g and accuses %g wrongly", row.TPR, row.FPR)
		}
	}
	table := report.Beliefs(p)
	if want := len(p.Risk.Belief) / len(p.Guarantee.Limits); len(table.Rates) != want || len(table.Rows) != len(p.Guarantee.Limits) {
		t.Errorf("%d rates and %d priors, want %d and %d", len(table.Rates), len(table.Rows), want, len(p.Guarantee.Limits))
	}
	for _, row := range table.Rows {
		if len(row.After) != len(table.Rates) || row.After[0] > row.Limit || row.After[0] < row.Prior {
			t.Errorf("prior %g: beliefs %g, limit %g", row.Prior, row.After, row.Limit)
		}
	}
}
