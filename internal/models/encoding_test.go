package models_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestEncoding checks what the data declaration says about cells: each line is
// a field, in the order in which a record is laid out.
func TestEncoding(t *testing.T) {
	m := compile(t, `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 100}
  out_of_range: reject
  columns:
    age: {header: Age (years), type: real, lower: 18, upper: 100, scale: {center: 60, by: 20}}
    crp: {type: real, lower: 1, upper: 500, transform: log, scale: {center: 1, by: 1.5}}
    smoker: {type: category, levels: [never, former, current], reference: former, unknown: never}
    site: {type: category, levels: [a, b], missing: {impute: b}}
    years: {type: real, lower: 1, upper: 9}
    died: {type: binary, levels: [no, yes]}
  missing:
    crp: {impute: 5, indicator: true}
  missing_tokens: ["-9"]
model:
  formula: died ~ 1 + age + crp + smoker + (1 | site) + offset(log(years))
  family: bernoulli
`)
	want := []string{
		"Age (years) numeric predictor [18,100] reject=true  (x-60)/20 missing=reject 0 → [0]",
		"crp numeric predictor [1,500] reject=true log (x-1)/1.5 missing=impute 5 → [1]",
		"crp missing_indicator predictor [1,500] reject=true  (x-0)/0 missing=impute 5 → [2]",
		"smoker one_hot predictor [never former current] unknown=0 missing=reject 0 → [3 -1 4]",
		"site level_code predictor [a b] unknown=-2 missing=impute 1 → [5]",
		"years numeric exposure [1,9] reject=true  (x-0)/0 missing=reject 0 → [6]",
		"died level_code response [no yes] unknown=-2 missing=reject 0 → [7]",
	}
	var got []string
	for _, f := range m.Encoding.Fields {
		line := fmt.Sprintf("%s %s %s ", f.Column, f.Kind, f.Role)
		if f.Lower != nil {
			line += fmt.Sprintf("[%g,%g] reject=%v %s (x-%g)/%g", *f.Lower, *f.Upper, f.RejectOutside, f.Transform, f.Center, f.Scale)
		} else {
			line += fmt.Sprintf("%v unknown=%d", f.Levels, f.Unknown)
		}
		got = append(got, line+fmt.Sprintf(" missing=%s %g → %v", f.Missing, f.Impute, f.Out))
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			t.Errorf("got  %v\nwant %v", at(got, i), at(want, i))
		}
	}
	if !slices.Equal(m.Encoding.MissingTokens, []string{"-9"}) || m.Encoding.K != 8 || m.Encoding.Predictors().K != 7 {
		t.Errorf("tokens %v, K %d, predictors %d", m.Encoding.MissingTokens, m.Encoding.K, m.Encoding.Predictors().K)
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}
