package report_test

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/table1"
)

const oneCategory = `d3p: 1
name: bands
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    band: {type: category, levels: [a, b]}
    y: {type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + band
  family: normal
`

// TestKnownOfTable1: the rows of Table 1 say how many records are usable, and how many
// of these have a level.
func TestKnownOfTable1(t *testing.T) {
	m := modelstest.Compile(t, "bands.yaml", oneCategory)
	if k := report.Known(m, report.Neighbours{NPublic: 1000}, report.Mechanism{}, nil); k.Assumed == "" || k.Declared != 1000 || k.Usable != 0 {
		t.Errorf("without Table 1: %+v", k)
	}
	early := report.Mechanism{Iterations: 499, Planned: &plan.Planned{Iterations: 1000}}
	if k := report.Known(m, report.Neighbours{}, early, nil); k.Unfinished != "the fit was ended after 499 of 1000 steps" || k.Steps != 499 {
		t.Errorf("ended early after %d: %q", k.Steps, k.Unfinished)
	}
	k := report.Known(m, report.Neighbours{NPublic: 1000}, report.Mechanism{}, []table1.Row{
		{Statistic: table1.Units, Value: 900, NoiseSD: 5},
		{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.1, NoiseSD: 0.01},
		{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.9, NoiseSD: 0.01},
		{Column: "band", Statistic: table1.Undeclared, Value: 0.5, NoiseSD: 0.01},
	})
	if k.Assumed != "" || math.Abs(k.Usable-900) > 1e-9 || k.UsableSD != 5 {
		t.Errorf("with Table 1: %+v", k)
	}
	if want := "band has a level that is not declared in about 50 % of all"; k.Lost != want {
		t.Errorf("%q, want %q", k.Lost, want)
	}
	noisy := report.Known(m, report.Neighbours{NPublic: 1000}, report.Mechanism{}, []table1.Row{
		{Statistic: table1.Units, Value: 3, NoiseSD: 20},
		{Column: "band", Statistic: table1.Undeclared, Value: 1, NoiseSD: 20}, // of no records
	})
	if noisy.Lost != "" {
		t.Errorf("noise names a column: %q", noisy.Lost)
	}
	if band := k.Levels["band"]; len(band) != 2 || math.Abs(band[0].Records-90) > 1e-9 || math.Abs(band[0].SD-9) > 1e-9 || !band[0].Reference || band[1].Reference {
		t.Errorf("levels %+v", k.Levels)
	}
}

// Steps of a fit by second moments are one estimate each: that they are far from the result
// says nothing, neither at the fit nor when the release is read again.
func TestStepsByMoments(t *testing.T) {
	m := modelstest.Compile(t, "bands.yaml", oneCategory)
	for mode, want := range map[string]bool{plan.ClippingByMoments: false, "flat": true} {
		draws := outputs.DrawPrior(m, 1000, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		trace := &outputs.Trace{}
		for _, p := range m.Params {
			trace.Names = append(trace.Names, p.Elements()...)
		}
		for i := range 100 {
			trace.Steps = append(trace.Steps, i+1)
			for range trace.Names {
				trace.Values = append(trace.Values, 30+float64(i))
			}
		}
		ran := report.Mechanism{}
		ran.Clip.Mode = mode
		report.Judge(m, draws, nil, trace, report.Neighbours{NPublic: 1000}, ran, nil)
		for _, v := range draws.Variables {
			if v.Name == "Intercept" && strings.Contains(v.Verdict.Why, "the last steps") != want {
				t.Errorf("clipping %q: %+v", mode, v.Verdict)
			}
		}
	}
}

// The report for a terminal says how much is resolved, and why.
func TestTextOfVerdicts(t *testing.T) {
	p, err := reporttest.Example(t, plan.Config{Epsilon: 1}).Privacy()
	if err != nil {
		t.Fatal(err)
	}
	for want, verdict := range map[string]outputs.Verdict{
		"\nStatistics: resolved\n":                         {Value: outputs.Resolved},
		"\nStatistics: resolved: the family is open\n":     {Value: outputs.Resolved, Why: "the family is open"},
		"\nStatistics: partly resolved: the prior moves\n": {Value: outputs.Partly, Why: "the prior moves"},
	} {
		var text strings.Builder
		p.Utility.Whole = &verdict
		if err := report.TextFile(p).Write(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
}
