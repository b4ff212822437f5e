package spec

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/data"
)

// Bought levels print as declared ones, whatever they are called, and the file with them reads as
// what it is. Two levels are the least, and the one of all other texts is the last.
func TestSettledLevels(t *testing.T) {
	const file = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    h: {type: category, levels: {dp: 0.1}, UNKNOWN}
    y: {type: binary}
model:
  formula: y ~ 1 + h
  family: bernoulli
`
	odd := []string{"leeds", "a: b", "[x]", "{y}", `"q"`, "'s'", "#c", "- d", "&a", "*a", "!t", "%p", "@at", "`tick`", "|", ">", "?", "~", "null", "yes", "1", "1.0", "01", "1e3", "0x1F", "2024-01-01", "a, b", "ü", "=", "a=b", "<b>", "bought_1", "other stuff", `back\slash`, "x #y", "x: y", ":", "...", "---", ",", "日本"}
	for _, of := range []struct {
		unknown    string
		names, all []string
	}{
		{"unknown: other", odd, append(slices.Clone(odd), "other")},
		{"unknown: other", nil, []string{"bought_1", "other"}},
		{"unknown: bought_1", nil, []string{"bought_1", "bought_2"}},
		{"source: codebook", []string{"bought_1"}, []string{"bought_1", "bought_2"}},
		{"source: codebook", nil, []string{"bought_1", "bought_2"}},
		{"source: codebook", odd, odd},
	} {
		src := strings.Replace(file, "UNKNOWN", of.unknown, 1)
		s, errs := ParseSettled("m.yaml", []byte(src), data.Bought{Levels: map[string][]string{"h": of.names}}, nil)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		settled := string(s.Render())
		again, errs := Parse("again.yaml", []byte(settled), nil)
		if len(errs) > 0 {
			t.Fatalf("%v\n%s", errs, settled)
		}
		for _, x := range []*Spec{s, again} {
			if got := x.Data.Column("h").LevelNames(); !slices.Equal(got, of.all) {
				t.Errorf("levels %q, want %q", got, of.all)
			}
		}
		if again := string(again.Render()); again != settled || strings.Contains(settled, "dp:") || !strings.Contains(settled, "bought, of a noisy number of units each") {
			t.Errorf("%s\nthen\n%s", settled, again)
		}
	}
	s, errs := Parse("m.yaml", []byte(strings.Replace(file, "UNKNOWN", "unknown: other", 1)), nil)
	if len(errs) > 0 || len(s.Data.Column("h").Levels) != 51 || !strings.Contains(string(s.Render()), "h: {type: category, levels: {dp: 0.1, most: 50}, unknown: other, missing: reject}") {
		t.Errorf("%v\n%s", errs, s.Render())
	}
}

const buying = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    age: {type: real, bounds: {dp: 0.1, within: [-500, 500]}, source: codebook}
    since: {type: date, bounds: {dp: 0.1, within: [2000-01-01, 2024-12-31]}}
    income: {type: real, lower: 1, upper: 1e6, transform: log, scale: {dp: 0.05}}
    height: {type: real, bounds: {dp: 0.1, within: [0, 300]}, scale: {center: 170, by: 10}}
    y: {type: binary}
  derive:
    root: sqrt(height)
model:
  formula: y ~ 1 + age + since + income + height + root
  family: bernoulli
`

// A file with bought numbers in their place is the file that declares them, and prints
// as such. Without them it prints its limits and prices.
func TestSettled(t *testing.T) {
	s, errs := Parse("m.yaml", []byte(buying), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(s.Warnings) > 0 {
		t.Errorf("%v", s.Warnings)
	}
	open := string(s.Render())
	for _, want := range []string{
		"age: {type: real, bounds: {dp: 0.1, within: [-500, 500]}, source: codebook",
		"since: {type: date, origin: 2000-01-01, bounds: {dp: 0.1, within: [2000-01-01, 2024-12-31]}",
		"scale: {dp: 0.05}",
		"height: {type: real, bounds: {dp: 0.1, within: [0, 300]}, scale: {center: 170, by: 10}",
		"root: {is: sqrt(height)}",
	} {
		if !strings.Contains(open, want) {
			t.Errorf("no %q in\n%s", want, open)
		}
	}
	bought := data.Bought{Numbers: map[string]data.Numbers{
		"age":    {Lower: 20, Upper: 90, Center: 54, By: 9.4},
		"since":  {Lower: 366, Upper: 1000, Center: 700, By: 100},
		"income": {Lower: 50, Upper: 1e5, Center: 9, By: 0.7},
		"height": {Lower: 140, Upper: 400, Center: 171, By: 9},
		"y":      {Lower: 3, Upper: 4},
	}}
	for _, src := range []string{buying, open} {
		s, errs = ParseSettled("m.yaml", []byte(src), bought, nil)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		settled := string(s.Render())
		for _, want := range []string{
			`age: {type: real, lower: 20, upper: 90, scale: {center: 54, by: 9.4}, source: codebook; bought between -500 and 500`,
			"since: {type: date, origin: 2000-01-01, lower: 2001-01-01, upper: 2002-09-27, scale: {center: 700, by: 100}, source: bought between 2000-01-01 and 2024-12-31",
			"income: {type: real, lower: 1, upper: 1.0e+06, transform: log, scale: {center: 9, by: 0.7}, source: bought between 1 and 1.0e+06",
			"height: {type: real, lower: 140, upper: 300, scale: {center: 170, by: 10}",
			"root: {is: sqrt(height), lower: 11.832",
		} {
			if !strings.Contains(settled, want) {
				t.Errorf("no %q in\n%s", want, settled)
			}
		}
		again, errs := Parse("again.yaml", []byte(settled), nil)
		if len(errs) > 0 || string(again.Render()) != settled {
			t.Errorf("%v\n%s\nthen\n%s", errs, settled, again.Render())
		}
	}
}
