package spec

import (
	"strings"
	"testing"
)

// TestWarnings checks what is no mistake but is said all the same.
func TestWarnings(t *testing.T) {
	const data = `d3p: 1
data:
  unit: {entity: patient, id: pid, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    a: {type: real, lower: 0, upper: 1}
    b: {type: real, lower: 0, upper: 1}
    y: {type: binary}
`
	for _, model := range []string{
		"model:\n  formula: y ~ a\n  family: bernoulli\n",
		"core:\n  dims:\n    coef: [a]\n  params:\n    w: normal(0, 1) [coef]\n  rows:\n    observe:\n      y: bernoulli(logits=columns(coef) @ w)\n",
	} {
		s, errs := Parse("m.yaml", []byte(data+model), nil)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if len(s.Warnings) != 1 || s.Warnings[0].Line != 7 {
			t.Errorf("warnings %v, want one for b", s.Warnings)
		}
	}
}

// Many columns that nothing uses are one warning, at the first of them.
func TestUnusedColumnsAreOneWarning(t *testing.T) {
	src := "d3p: 1\ndata:\n  unit: {entity: patient, rows_per_unit: 1}\n  rows: {public: 100}\n  columns:\n    y: {type: binary}\n"
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		src += "    " + name + ": {type: real, lower: 0, upper: 1}\n"
	}
	s, errs := Parse("m.yaml", []byte(src+"model: {formula: y ~ a, family: bernoulli}\n"), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	const want = "nothing uses columns b, c, d, e, f, g and 1 more"
	if len(s.Warnings) != 1 || s.Warnings[0].Message != want || s.Warnings[0].Line != 8 {
		t.Errorf("warnings %v, want %s at line 8", s.Warnings, want)
	}
}

// TestWideBounds: bounds far wider than the scale are worth a look.
func TestWideBounds(t *testing.T) {
	const model = `d3p: 1
name: wide
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: 0, upper: UPPER, scale: {center: 5, by: 2}}
    y: {type: real, lower: 0, upper: 1000, scale: {center: 5, by: 2}}
model:
  formula: y ~ 1 + x
  family: normal
`
	for upper, want := range map[string]int{"40": 0, "42": 1} {
		s, errs := Parse("wide.yaml", []byte(strings.Replace(model, "UPPER", upper, 1)), nil)
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		if len(s.Warnings) != want {
			t.Errorf("upper bound %s: warnings %v, want %d", upper, s.Warnings, want)
		}
	}
}
