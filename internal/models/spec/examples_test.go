package spec

import (
	"strings"
	"testing"
)

// The hint at a mapping that is written as one value shows a form that is read.
func TestExamplesOfMappings(t *testing.T) {
	const right = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: 0, upper: 10, scale: {center: 5, by: 3}}
    y: {type: real, lower: 0, upper: 10}
  missing: {default: reject}
model: {formula: y ~ x, family: normal}
privacy: {epsilon: 1}
`
	for from, to := range map[string]string{
		"unit: {entity: person, rows_per_unit: 1}":                        "unit: person",
		"rows: {public: 1000}":                                            "rows: 1000",
		"x: {type: real, lower: 0, upper: 10, scale: {center: 5, by: 3}}": "x: real",
		"scale: {center: 5, by: 3}":                                       "scale: 3",
		"missing: {default: reject}":                                      "missing: reject",
		"model: {formula: y ~ x, family: normal}":                         "model: y ~ x",
		"privacy: {epsilon: 1}":                                           "privacy: 1",
	} {
		_, errs := Parse("m.yaml", []byte(strings.Replace(right, from, to, 1)), nil)
		if len(errs) == 0 {
			t.Errorf("%s: no mistake", to)
			continue
		}
		_, hint, _ := strings.Cut(errs[0].Hint, "write `")
		hint, _, _ = strings.Cut(hint, "`")
		if from[0] == 'x' {
			hint = "x: " + hint
		}
		if _, errs := Parse("m.yaml", []byte(strings.Replace(right, from, hint, 1)), nil); hint == "" || len(errs) > 0 {
			t.Errorf("%s: the hint gives %q: %v", to, hint, errs.Err())
		}
	}
}

// A response of two levels under bernoulli is of the wrong type, not of the wrong family.
func TestHintAtTwoLevels(t *testing.T) {
	for levels, want := range map[string]string{"[a, b]": "write `type: binary`", "[a, b, c]": "category columns are observed by family categorical"} {
		_, errs := Parse("m.yaml", []byte(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: 0, upper: 10}
    y: {type: category, levels: `+levels+`}
model: {formula: y ~ x, family: bernoulli}
`), nil)
		if len(errs) != 1 || errs[0].Hint != want {
			t.Errorf("%s: %v, want the hint %s", levels, errs.Err(), want)
		}
	}
}
