package main

import (
	"strings"
	"testing"

	"d3p/cmd/d3p/internal/modelfile"
	"d3p/internal/models"
	"d3p/internal/outputs"
)

// The note under the table names the scales that coefficients are on: not those
// of a count or of an exposure, which the model reads in the unit of the file.
func TestScales(t *testing.T) {
	for file, want := range map[string]string{
		"weibull":      "age per 20 from 60",
		"poisson":      "deprivation per 3 from 5.5",
		"hierarchical": "age per 20 from 60, severity per 8 from 12",
	} {
		m, err := modelfile.Load("../../configs/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(scalesOf(m), ", "); got != want {
			t.Errorf("%s: scales %q, want %q", file, got, want)
		}
	}
}

// A date's scale is in days, from a date; what the model derives for the unit of
// the file is named.
func TestExplainDates(t *testing.T) {
	s, err := modelfile.ParseSpec("m.yaml", []byte(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    day: {type: date, lower: 2024-01-01, upper: 2024-12-31, scale: {center: 2024-07-01, by: 30}}
    sex: {type: binary, levels: [female, male]}
    y: {type: binary}
model: {formula: y ~ day + sex, family: bernoulli}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	text := explain(m, view{prob: usualProb})
	for _, want := range []string{"day per 30 days from 2024-07-01.", "counts as 1: sex male.", "In the unit of the data file, by d3p summary --raw and in summary.csv: b_raw, Intercept_raw."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}

// How to lessen noise is said where noise is the reason against a parameter, and there alone.
func TestVerdictWordsOfNoise(t *testing.T) {
	share := 0.9
	for why, want := range map[string]bool{"90 % of the variance is privacy noise": true, "the posterior is the prior": false} {
		row := outputs.Summary{Variable: "b", NoiseShare: &share, Verdict: &outputs.Verdict{Value: outputs.Partly, Why: why}}
		text := verdictWords(outputs.Verdict{Value: outputs.Partly, Why: "c: the posterior is the prior"}, []outputs.Summary{row})
		if strings.Contains(text, "less noise: a larger epsilon") != want {
			t.Errorf("%s: %q", why, text)
		}
	}
}

// A resolved fit may have something that is not checked, which is no reason for a parameter.
func TestVerdictWordsOfResolvedFits(t *testing.T) {
	if got, want := verdictWords(outputs.Verdict{Value: outputs.Resolved, Why: "the family is open"}, nil), "Statistics: resolved (the family is open)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
