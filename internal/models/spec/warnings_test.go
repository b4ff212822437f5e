package spec

import "testing"

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
