package report_test

import (
	"bytes"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/settings"
)

// methodsOf is the paragraph file of a run.
func methodsOf(t *testing.T, run *report.Run) string {
	t.Helper()
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	file, err := report.ReportFile("methods", p, report.Findings{Guide: "mean_field"}, run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := file.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Where the released family is not that of the fitted guide, the methods name both.
func TestMethodsNameFittedAndReleasedFamily(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	for fitted, want := range map[string]string{
		"mean_field": "the fit moved a guide of the family mean-field, and the released approximation, made from all steps together, is of the family full-rank, on the scale",
		"full_rank":  "; the approximation is of the family full-rank, on the scale",
	} {
		file, err := report.ReportFile("methods", p, report.Findings{Guide: "full_rank", Fitted: fitted}, run.Spec)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := file.Write(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("a fitted %s: no %q in\n%s (%v)", fitted, want, b.String(), err)
		}
	}
}

// Draws of a sampler are no family, and each reference that the text cites is listed.
func TestMethodsNameTheSampler(t *testing.T) {
	for name, c := range map[string]struct {
		config plan.Config
		want   []string
		not    string
	}{
		"private":  {plan.Config{Epsilon: 1, Table1: "0.04"}, []string{"moved a guide of the family mean-field, and the released draws were made by the No-U-Turn sampler", "bought with 0.04 of the squared budget", "Hoffman MD", "Jälkö J", "Abadi M"}, "Kucukelbir"},
		"baseline": {plan.Config{NonPrivate: true}, []string{"The posterior was sampled by the No-U-Turn sampler", "Hoffman MD"}, "Kucukelbir"},
	} {
		run := reporttest.Example(t, c.config)
		p, err := run.Privacy()
		if err != nil {
			t.Fatal(err)
		}
		file, err := report.ReportFile("methods", p, report.Findings{Guide: guide.SampleName, Fitted: "mean_field"}, run.Spec)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, b.String())
			}
		}
		if strings.Contains(b.String(), c.not) || strings.Contains(b.String(), "family sample") {
			t.Errorf("%s names a family or a reference that it does not have:\n%s", name, b.String())
		}
	}
}

// The methods of a paper name the model, the mechanism and the guarantee with the
// numbers of the report; those of a baseline claim nothing.
func TestMethods(t *testing.T) {
	private := methodsOf(t, reporttest.Example(t, plan.Config{Epsilon: 1, Steps: 50, Clipping: "flat", ClipNorm: 2}))
	for _, want := range []string{
		"y ~ 1 + x", "family gaussian with link identity", "In each of 50 steps", "(at norm 2)", "of the family mean-field",
		"(ε = 1, δ = ", "unit is one person", "Jälkö", "wrongly accusing 10 of 1000", "nor later releases",
	} {
		if !strings.Contains(private, want) {
			t.Errorf("the methods do not say %q:\n%s", want, private)
		}
	}
	baseline := methodsOf(t, reporttest.Example(t, plan.Config{NonPrivate: true}))
	if !strings.Contains(baseline, settings.NotPrivate) || strings.Contains(baseline, "satisfies") || strings.Contains(baseline, "Jälkö") {
		t.Errorf("the methods of a baseline:\n%s", baseline)
	}
	for _, text := range []string{private, baseline} {
		if strings.Contains(text, "%!") || strings.Contains(text, "  ") || strings.Contains(text, "..\n") {
			t.Errorf("badly put together:\n%s", text)
		}
	}
}
