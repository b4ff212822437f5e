package spec

import (
	"slices"
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
    a: {type: real, lower: 0, upper: 1, scale: {center: 0.5, by: 0.3}}
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
		src += "    " + name + ": {type: real, lower: 0, upper: 1, scale: {center: 0, by: 1}}\n"
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

// A code for missing values that a column may hold as a value takes that value from it.
func TestMissingCodesThatAreValues(t *testing.T) {
	const src = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 100}
  missing_tokens: [99, -9, "2020-01-01"]
  columns:
    age: {type: integer, lower: 18, upper: 110, scale: {center: 50, by: 20}}
    bmi: {type: real, lower: 12, upper: 60, scale: {center: 27, by: 5}, missing_tokens: [30]}
    ward: {type: category, levels: ["1", "99"]}
    since: {type: date, lower: 2019-01-01, upper: 2021-01-01, scale: {center: 2020-01-01, by: 100}}
    spare: {type: real, lower: 0, upper: 100}
    y: {type: binary}
  drop: [x]
model: {formula: y ~ age + bmi + ward + since, family: bernoulli}
`
	s, errs := Parse("m.yaml", []byte(src), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, w := range s.Warnings {
		if w.Line == 5 {
			got = append(got, w.Message)
		}
	}
	want := []string{"99 is a possible value of age, and counts as missing there", "2020-01-01 is a possible value of since, and counts as missing there"}
	if !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	_, errs = Parse("m.yaml", []byte(strings.Replace(src, `"99"]}`, `"99"], missing_tokens: [99]}`, 1)), nil)
	if len(errs) != 1 || errs[0].Line != 9 || errs[0].Message != "99 is a level of ward" {
		t.Errorf("mistakes %v, want one of a level that is missing", errs)
	}
}

// TestUnusedKeysOfTables: a column of a public table is not protected, so bounds and rules
// for missing values have no effect there.
func TestUnusedKeysOfTables(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    y: {type: binary}
    ward: {type: category, levels: [a, b]}
  tables:
    wards:
      file: wards.csv
      public: true
      key: ward
      columns:
        beds: {type: real, lower: 0, missing: model, scale: {center: 1, by: 2}}
model: {formula: y ~ (1 | ward), family: bernoulli, group_formula: {ward: 1 + beds}}
`
	s, errs := Parse("m.yaml", []byte(model), func(string) ([]byte, error) { return []byte("ward,beds\na,1\nb,2\n"), nil })
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := ""
	for _, w := range s.Warnings {
		got += w.Message + "\n"
	}
	if want := "lower has no use in a public table\nmissing has no use in a public table\n"; got != want {
		t.Errorf("warnings %q, want %q", got, want)
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
	checkUpperBounds(t, model, map[string]int{"40": 0, "42": 1})
}

// checkUpperBounds compares the number of warnings about a model, by its UPPER, with those expected.
func checkUpperBounds(t *testing.T, model string, warnings map[string]int) {
	t.Helper()
	for upper, want := range warnings {
		s, errs := Parse("m.yaml", []byte(strings.Replace(model, "UPPER", upper, 1)), nil)
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		if len(s.Warnings) != want {
			t.Errorf("upper bound %s: warnings %v, want %d", upper, s.Warnings, want)
		}
	}
}

// TestBareScales: predictors and responses whose scale the bounds alone suggest are one
// warning.
func TestBareScales(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    a: {type: real, lower: 0, upper: 1}
    b: {type: real, lower: 0, upper: 1, scale: {center: 0.5, by: 0.3}}
    k: {type: category, levels: [p, q]}
    y: {type: real, lower: 0, upper: 1000}
    n: {type: integer, lower: 0, upper: 50}
model:
`
	for formula, want := range map[string]string{
		"{formula: y ~ 1 + a + b + k + n, family: normal}":     "without a scale: y, a, n",
		"{formula: n ~ 1 + b + k, family: poisson}":            "",
		"{formula: n ~ 1 + a * b + log1p(a), family: poisson}": "without a scale: a;",
	} {
		s, errs := Parse("m.yaml", []byte(strings.Replace(model, "model:\n", "model: "+formula+"\n", 1)), nil)
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, w := range s.Warnings {
			if strings.HasPrefix(w.Message, "without a scale") {
				said += w.Message
			}
		}
		if !strings.HasPrefix(said, want) || want == "" && said != "" {
			t.Errorf("%s: %q, want %q", formula, said, want)
		}
	}
}

// A scale that lies outside the bounds is one of another unit: that of the file beside a transform, say.
func TestScalesOutsideTheBounds(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    a: {type: real, lower: 100, upper: 1000000, transform: log, scale: {center: 30000, by: 20000}}
    b: {type: integer, lower: 18, upper: 90, scale: {center: 600, by: 20}}
    c: {type: real, lower: 18, upper: 90, scale: {center: 60, by: 100}}
    d: {type: real, lower: 100, upper: 1000000, transform: log, scale: {center: 10, by: 2}}
    e: {type: real, lower: 0, upper: 3, scale: {center: 0, by: 1}}
    y: {type: real, lower: 1, upper: 1000, transform: log, scale: {center: 100, by: 50}}
    z: {type: real, lower: 1, upper: 1000, scale: {center: 0, by: 365}}
model: {formula: RESPONSE ~ 1 + a + b + c + d + e, family: normal}
`
	for response, want := range map[string][]string{"y": {"a", "b", "c", "y"}, "z": {"a", "b", "c"}} {
		s, errs := Parse("m.yaml", []byte(strings.Replace(model, "RESPONSE", response, 1)), nil)
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range s.Warnings {
			if name, found := strings.CutPrefix(w.Message, "the scale of column "); found {
				got = append(got, strings.TrimSuffix(name, " is not within its bounds"))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("response %s: warnings of %q, want %q", response, got, want)
		}
	}
}

// A weight of 3000 makes a record count as 3000: weights of a survey are about their mean.
func TestLargeWeights(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    w: {type: real, lower: 0, upper: UPPER}
    y: {type: binary}
  weights: w
model: {formula: y ~ 1, family: bernoulli}
`
	checkUpperBounds(t, model, map[string]int{"20": 0, "3000": 1})
}

// A column that the model reads as log(x) alone is counted by its log. One with a scale or a second use is not, nor is an
// offset's.
func TestTransformsOfArguments(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: firm, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    a: {type: real, lower: 1, upper: 1000000}
    b: {type: integer, lower: 0, upper: 1000, scale: {center: 50, by: 20}}
    c: {type: integer, lower: 0, upper: 1000}
    y: {type: integer, lower: 0, upper: 1000}
model: {formula: FORMULA, family: poisson}
`
	for formula, want := range map[string]string{
		"y ~ log(a) + log1p(b) + log1p(c)":         "log,,log1p,",
		"y ~ log(a) + a + sqrt(c) + I(c^2)":        ",,,",
		"y ~ log1p(c) + offset(log(a)) + log(a+b)": ",,log1p,",
		"y ~ log(a):c": "log,,,",
	} {
		s, errs := Parse("m.yaml", []byte(strings.Replace(model, "FORMULA", formula, 1)), nil)
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range s.Data.Columns[:4] {
			got += c.Transform.V + ","
		}
		if got = strings.TrimSuffix(got, ","); got != want {
			t.Errorf("%s: transforms %q, want %q", formula, got, want)
		}
	}
}

// TestConstantWithin: a predictor beside effects of groups is one that varies within them,
// one that does not, or worth a warning.
func TestConstantWithin(t *testing.T) {
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    a: {type: real, lower: 0, upper: 1, scale: {center: 0, by: 1}WITHIN}
    b: {type: category, levels: [p, q]}
    site: {type: category, levels: [r, s]}
    ward: {type: category, levels: [v, w], constant_within: site}
    y: {type: binary}
DEFAULT
model:
  formula: y ~ 1 + FORMULA
  family: bernoulli
`
	for _, c := range []struct{ within, byDefault, formula, want string }{
		{"", "", "a + b", ""},
		{"", "", "a + b + (1 | site)", "a, b"},
		{"", "", "a * b + (1 + a | site)", "a, b"},
		{", constant_within: site", "", "a + b + (1 | site)", "b"},
		{", constant_within: none", "", "a + b + (1 | site)", "b"},
		{", constant_within: site", "constant_within: none", "a + b + (1 | site)", ""},
		{"", "constant_within: none", "a + log1p(a) + (1 | site)", ""},
		{"", "", "log1p(a) + (1 | site)", "log1p(a)"},
		{"", "constant_within: none", "a + ward + (1 | site)", ""},
		{"", "", "site + (1 | site)", ""},
	} {
		src := strings.NewReplacer("WITHIN", c.within, "DEFAULT", "  "+c.byDefault, "FORMULA", c.formula).Replace(model)
		s, errs := Parse("m.yaml", []byte(src), nil)
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, w := range s.Warnings {
			if after, ok := strings.CutPrefix(w.Message, "columns may have one value for all records of a site: "); ok {
				said, _, _ = strings.Cut(after, ";")
			}
		}
		if said != c.want {
			t.Errorf("%v: warned of %q, want %q", c, said, c.want)
		}
	}
}
