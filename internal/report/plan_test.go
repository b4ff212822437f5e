package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// A plan is the report of the fit that it plans: the same claim, risk and price,
// in the same schema, without a posterior and without the words of a release.
func TestPlanIsTheReportToCome(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	after, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	run.Status, run.Draws, run.Posterior = report.Planned, outputs.Draws{}, &posterior.Posterior{Plan: run.Plan, Steps: run.Plan.Steps}
	before, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before.Guarantee, after.Guarantee) || !reflect.DeepEqual(before.Risk, after.Risk) || !reflect.DeepEqual(before.Mechanism, after.Mechanism) {
		t.Error("the plan promises something else than the report says")
	}
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, raw); err != nil {
		t.Error(err)
	}
	findings := report.Findings{Expected: []report.Expected{{"b", 0.1, 0.2}}, Work: "little"}
	for _, file := range []release.File{report.HTMLFile(before, findings), report.MarkdownFile(before, findings)} {
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			t.Fatal(err)
		}
		text := withoutTokens(b.String())
		for _, want := range []string{"Privacy plan of example", "PLAN", "no record was read", "10 to 20 %", "Work: little.", before.Statements.Odds} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", file.Name, want)
			}
		}
		for _, no := range []string{"released posterior of", "d3p verify", "NaN", "<no value>"} {
			if strings.Contains(text, no) {
				t.Errorf("%s says %q", file.Name, no)
			}
		}
	}
}
