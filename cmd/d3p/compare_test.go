package main

import (
	"strings"
	"testing"

	"d3p/internal/outputs"
)

// An interval that is not resolved says so, beside those that are and those without a verdict.
func TestComparisonShowsVerdicts(t *testing.T) {
	summary := func(verdict *outputs.Verdict) *outputs.Summary {
		return &outputs.Summary{Variable: "b[x]", Mean: 1, SD: 0.3, Q5: 0.5, Q95: 1.5, Verdict: verdict}
	}
	for verdict, want := range map[string][]string{
		outputs.Resolved: {"b[x]       1.000 [0.500, 1.500]  1.000 [0.500, 1.500]"},
		outputs.Not:      {"b[x]       1.000 [0.500, 1.500] not  1.000 [0.500, 1.500]", "\npartly, not: "},
	} {
		var text strings.Builder
		printComparison(&text, &comparison{Runs: make([]comparedRun, 2), Rows: []comparedRow{
			{Variable: "b[x]", Runs: []*outputs.Summary{summary(&outputs.Verdict{Value: verdict}), summary(nil)}},
		}})
		for _, line := range want {
			if !strings.Contains(text.String(), line) {
				t.Errorf("%s: without %q:\n%s", verdict, line, &text)
			}
		}
		if legend := strings.Contains(text.String(), "partly, not: "); legend != (len(want) > 1) {
			t.Errorf("%s: the words of verdicts are explained where there are some:\n%s", verdict, &text)
		}
	}
}
