package spec

import (
	"strings"
	"testing"
)

// withFormula is a model file with this formula.
func withFormula(formula string) string {
	return `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: 0, upper: 100, scale: {center: 50, by: 20}}
    w: {type: real, lower: 0, upper: 10}
    g: {type: category, levels: [a, b]}
    y: {type: binary}
  missing: {w: {impute: 5, indicator: true}, default: reject}
model: {formula: "` + formula + `", family: bernoulli}
`
}

// Curves have coefficients along a dim of their own, knots move to the declared
// scale, missing values keep their indicator, and nothing is said per unit of the
// file.
func TestSmooths(t *testing.T) {
	s, errs := Parse("m.yaml", []byte(withFormula("y ~ g + poly(w, 3) + spline(x, 10, 50, 70, 90)")), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	core, errs := s.Lower()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	sizes := map[string]int{}
	for _, d := range core.Dims {
		sizes[d.Name.V] = max(d.Size.V, len(d.Labels))
	}
	if sizes["basis_w"] != 3 || sizes["basis_x"] != 3 || sizes["coef"] != 2 {
		t.Errorf("dims %v, want three coefficients for each curve, and b of g=b and w_missing", sizes)
	}
	want := "Intercept + columns(coef) @ b + poly(w, over=basis_w) @ s_w + spline(x, knots=[-2, 0, 1, 2], over=basis_x) @ s_x"
	if got := core.RowsLet[0].Text.V; got != want {
		t.Errorf("eta: %s\nwant %s", got, want)
	}
	for _, d := range core.Let {
		if strings.HasSuffix(d.Name.V, "_raw") {
			t.Errorf("%s: a curve has no coefficient per unit of the file", d.Name.V)
		}
	}
}

func TestSmoothMistakes(t *testing.T) {
	for formula, want := range map[string]string{
		"y ~ x + poly(x, 2)":                  "column x is in the formula besides poly(x, 2)",
		"y ~ poly(x, 2) + spline(x, 1, 2, 3)": "column x is in the formula besides spline(x, 1, 2, 3)",
		"y ~ poly(g, 2)":                      "poly(g, 2): column g is no number",
		"y ~ poly(x, 1)":                      "poly needs one degree, from 2 to 9",
		"y ~ poly(x, 2.5)":                    "poly needs one degree, from 2 to 9",
		"y ~ poly(x, 2, 3)":                   "poly needs one degree, from 2 to 9",
		"y ~ spline(x, 10, 20)":               "a spline needs at least three knots that rise",
		"y ~ spline(x, 10, 30, 20)":           "a spline needs at least three knots that rise",
		"y ~ spline(x, 10, Inf, 20)":          "a number must come here, not Inf",
		"y ~ spline(x, 10, 20":                ") must come here, not the end of the formula",
		"y ~ (1 + poly(x, 2) | g)":            "poly(...) can stand in the main formula only, outside of brackets",
		"y ~ (poly(x, 2) + w)^2":              "poly(...) can stand in the main formula only, outside of brackets",
		"y ~ w + poly(x, 2) - poly(x, 2)":     "poly(...) cannot be subtracted",
		"y ~ w * poly(x, 2)^2":                "poly(...) has no powers",
		"y ~ poly(nosuch, 2)":                 "undeclared column nosuch",
		"y ~ x:spline(w, 1, 2, 3)":            "spline(...) cannot be multiplied",
	} {
		_, errs := Parse("m.yaml", []byte(withFormula(formula)), nil)
		if len(errs) != 1 || errs[0].Message != want {
			t.Errorf("%s: %v, want %s", formula, errs, want)
		}
	}
}
