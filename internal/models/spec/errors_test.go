package spec_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
	"d3p/internal/models/spec/spectest"
)

// TestErrors checks the messages of every file of testdata/errors.
func TestErrors(t *testing.T) {
	spectest.Each(t, "testdata/errors/*.yaml", func(file string, src []byte) expr.Errors {
		s, errs := spec.Parse(file, src, func(path string) ([]byte, error) {
			return os.ReadFile("testdata/errors/" + path)
		})
		if len(errs) == 0 && (s.Model != nil || s.Core != nil) {
			_, errs = s.Lower()
		}
		return errs
	})
}

// A statement of Stan is no line of YAML, alone or beside one.
func TestTildeHasAHint(t *testing.T) {
	for _, rest := range []string{"", "    tau: half_normal(1)\n"} {
		_, errs := spec.Parse("m.yaml", []byte("d3p: 1\ncore:\n  params:\n    mu ~ normal(0, 1)\n"+rest), nil)
		if !strings.Contains(errs.Error(), "m.yaml:4:5: ") || !strings.Contains(errs.Error(), "(write a colon in place of ~, `mu: ...`)") {
			t.Errorf("no hint to write a colon: %v", errs)
		}
	}
}

// TestErrorText pins the form of a message, which users and editors parse.
func TestErrorText(t *testing.T) {
	src := "d3p: 1\ndata:\n  unti: {entity: patient}\n  trace: {loss: dp}\nfit: {epsilon: 1}\npriors: {}\n"
	_, errs := spec.Parse("cohort.yaml", []byte(src), nil)
	for _, want := range []string{
		"cohort.yaml:3:3: unknown key unti in data (did you mean unit?)",
		"cohort.yaml:4:3: unknown key trace in data (write it under fit:)",
		"cohort.yaml:5:7: unknown key epsilon in fit (write it under privacy:)",
		"cohort.yaml:6:1: unknown key priors in the model file (write it under model: or twin:)",
	} {
		if !slices.ContainsFunc(errs, func(e *expr.Error) bool { return e.Error() == want }) {
			t.Errorf("want %q among\n%v", want, errs)
		}
	}
}

// The error of weights that cannot be says what to declare instead.
func TestWeightsThatCannotBe(t *testing.T) {
	const data = "d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 10}\n  weights: NAME\n  columns:\n    w: {type: real, lower: -1, upper: 4}\n    y: {type: binary}\n" +
		"  derive:\n    w2: {is: w / 2, lower: 0, upper: 2}\nmodel: {formula: y ~ 1 + w, family: bernoulli}\n"
	for name, want := range map[string]string{
		"w2": "m.yaml:5:12: weights must stand in the file, where Table 1 measures them, but w2 is derived (write w / 2 into a column of the file, and declare that under columns, as in `w2: {type: real, lower: 0, upper: 5}`, in place of the derived one)",
		"y":  "m.yaml:5:12: weights must be numbers, but y is binary (declare it as `{type: real, lower: 0, upper: 5}`, or name another column)",
		"w":  "m.yaml:7:28: w is a weight: its lower bound must be at least 0, not -1 (write `lower: 0`)",
	} {
		_, errs := spec.Parse("m.yaml", []byte(strings.Replace(data, "NAME", name, 1)), nil)
		if !slices.ContainsFunc(errs, func(e *expr.Error) bool { return e.Error() == want }) {
			t.Errorf("%s: want %q among\n%v", name, want, errs)
		}
	}
}

// TestInclude checks that included blocks count as the file's own, that their
// mistakes carry their own file, and that a block stands in one file only.
func TestInclude(t *testing.T) {
	files := map[string]string{
		"own/data.yaml":  "data:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 10}\n  columns:\n    y: {type: binary}\n    g: {type: category, levels_from: levels.csv#g}\n",
		"own/levels.csv": "g\na\nb\na\n",
		"own/loop.yaml":  "include: loop.yaml\n",
		"bad.yaml":       "fit: {steps: -1}\n",
	}
	load := func(path string) ([]byte, error) {
		if src, ok := files[path]; ok {
			return []byte(src), nil
		}
		return nil, os.ErrNotExist
	}
	const model = "model:\n  formula: y ~ 1 + g\n  family: bernoulli\n"
	s, errs := spec.Parse("dir/m.yaml", []byte("d3p: 1\ninclude: own/data.yaml\n"+model), load)
	if len(errs) > 0 || s.Data.Column("g").Level("b") != 1 {
		t.Errorf("included data: %v", errs)
	}
	for src, want := range map[string]string{
		"d3p: 1\ninclude: bad.yaml\n":                                  "dir/bad.yaml:1:14: steps: -1 is not at least 1",
		"d3p: 1\ninclude: [own/data.yaml]\ndata: {}\n":                 "dir/own/data.yaml:1:1: data is also declared at dir/m.yaml:3:1",
		"d3p: 1\ninclude: own/loop.yaml\n":                             "dir/own/loop.yaml:1:10: files include each other more than 8 deep",
		"d3p: 1\ninclude: [own/data.yaml]\nfit: {steps: 1.5}\n":        "dir/m.yaml:3:14: steps: \"1.5\" is not a whole number",
		"d3p: 1\ninclude: [own/data.yaml]\nprivacy: {epsilon: .nan}\n": "dir/m.yaml:3:20: epsilon: \".nan\" is not a number",
	} {
		_, errs := spec.Parse("dir/m.yaml", []byte(src+model), load)
		if !strings.Contains(errs.Error(), want) {
			t.Errorf("want %q among\n%v", want, errs)
		}
	}
}
