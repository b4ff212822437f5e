package spec

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/expr"
)

// Each of these formulas has one mistake that the family or a column decides.
func TestMistakesOfFormulas(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: 0, upper: 1, scale: {center: 0.5, by: 0.3}}
    n: {type: integer, lower: 0, upper: 12, scale: {center: 5, by: 3}}
    y: {type: real, lower: 1, upper: 9, transform: log, missing: {impute: 3}}
    z: {type: real, lower: 1, upper: 9, transform: log, scale: {center: 1, by: 1}}
    w: {type: real, lower: 1, upper: 9, scale: {center: 1, by: 1}}
    k: {type: category, levels: [p, q, r]}
    g: {type: category, levels: [a, b]}
  tables:
    sites: {file: sites.csv, public: true, key: g, columns: {beds: {type: real, scale: {center: 400, by: 300}}, staff: {type: real, scale: {center: 4, by: 3}}}}
`
	for _, c := range []struct{ model, want string }{
		{"{formula: y ~ 1 + x, family: normal}", "a response must not be imputed"},
		{"{formula: n | trials(10) ~ 1 + x, family: binomial}", "n has at most 10 successes: its upper bound must not be above"},
		{"{formula: n | trials(12) ~ 1 + x, family: binomial}", ""},
		{"{formula: z | trunc(lb = 2) ~ 1 + x, family: normal}", "z has a transform and cannot be truncated in a formula"},
		{"{formula: w | trunc(lb = 2) ~ 1 + x, family: normal}", ""},
		{"{formula: k ~ 1 + x + (1 | g), family: categorical, group_formula: {g: 1 + beds}}", "family categorical has no group_formula"},
		{"{formula: w ~ 1 + x + (1 | g), family: normal, group_formula: {g: \"1 + beds:staff\"}}", "interactions of a group's columns are not available"},
		{"{formula: w ~ 1 + x + (1 | g), family: normal, group_formula: {g: 1 + beds + staff}}", ""},
	} {
		_, errs := Parse("m.yaml", []byte(model+"model: "+c.model+"\n"), func(string) ([]byte, error) { return []byte("g,beds,staff\na,300,3\nb,500,5\n"), nil })
		var got []string
		for _, e := range errs {
			got = append(got, e.Message)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.model, got, c.want)
		}
	}
}

// A power beside its column is a warning where the two are nearly one, and units have several rows.
func TestPowersBesideTheirColumn(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, id: pid, rows_per_unit: ROWS}
  rows: {public: 10}
  columns:
    age: {type: integer, lower: 18, upper: 90, scale: {center: 50, by: 15}}
    z: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: real, lower: 0, upper: 9, scale: {center: 4, by: 1}}
model: {formula: "FORMULA", family: normal}
`
	for _, c := range []struct {
		rows, formula string
		want          bool
	}{
		{"4", "y ~ 1 + age + I(age^2)", true}, {"1", "y ~ 1 + age + I(age^2)", false}, {"4", "y ~ 1 + I(age^2)", false},
		{"4", "y ~ 1 + z + I(z^2)", false}, {"4", "y ~ 1 + poly(age, 2)", false},
	} {
		s, errs := Parse("m.yaml", []byte(strings.NewReplacer("ROWS", c.rows, "FORMULA", c.formula).Replace(model)), nil)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		warned := slices.ContainsFunc(s.Warnings, func(w *expr.Error) bool {
			return strings.HasPrefix(w.Message, "age and I(age^2) correlate by 0.99 between the bounds") && strings.HasPrefix(w.Hint, "write poly(age, 2),")
		})
		if warned != c.want {
			t.Errorf("%s, %s rows: warnings %v", c.formula, c.rows, s.Warnings)
		}
	}
}
