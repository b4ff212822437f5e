package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/formula"
)

// TestSpreadPriors compares default priors about the spread of columns with numbers by
// hand: age has mean 50 and sd 10, w mean 0.5 and sd 0.1, and the response sd 2.
func TestSpreadPriors(t *testing.T) {
	const text = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    age: {type: real, lower: 0, upper: 120}
    w: {type: real, lower: 0, upper: 12}
    z: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    c: {type: category, levels: [p, q]}
    y: %s
model: {formula: y ~ 1 + age + w + z + c%s, family: %s}
`
	// The scales of age and w are 120/√12 = 34.6 and 3.46; a level is (60 − 50)/10 = 1 sd of
	// age and (6 − 0.5)/0.1 = 55 sds of w away.
	spread := func(column string) formula.Spread {
		switch column {
		case "age":
			return formula.Spread{Mean: 50, SD: 10, Own: 1}
		case "w":
			return formula.Spread{Mean: 0.5, SD: 0.1, Own: 1}
		}
		return formula.Spread{SD: 2, Own: 1}
	}
	for _, c := range []struct{ name, response, more, family, want string }{
		{"logistic", "{type: binary}", "", "bernoulli", "b[age] normal(0, 3.46); b[w] normal(0, 34.6); Intercept normal(0, 55.1)"},
		{"interaction", "{type: binary}", " + age:z", "bernoulli", "b[age] normal(0, 3.46); b[w] normal(0, 34.6); b[age:z] normal(0, 3.46); Intercept normal(0, 55.1)"},
		{"one prior stated", "{type: binary}", `, priors: {"b[w]": "normal(0, 2)"}`, "bernoulli", "b[age] normal(0, 3.46); Intercept normal(0, 2.69)"},
		{"all stated", "{type: binary}", `, priors: {b: "normal(0, 2)"}`, "bernoulli", ""},
		{"intercept stated", "{type: binary}", `, priors: {Intercept: "normal(0, 2)"}`, "bernoulli", "b[age] normal(0, 3.46); b[w] normal(0, 34.6)"},
		{"thresholds", "{type: ordinal, levels: [1, 2, 3]}", "", "cumulative", "b[age] normal(0, 3.46); b[w] normal(0, 34.6); thresholds ordered_normal(0, 55.1)"},
		// The response has the scale 60/√12 = 17.3, 8.66 of its sds.
		{"linear", "{type: real, lower: -30, upper: 30}", "", "normal", "b[age] normal(0, 0.4); b[w] normal(0, 4); b[z] normal(0, 0.115); b[c=q] normal(0, 0.115); Intercept normal(0, 6.83)"},
		{"linear on a scale", "{type: real, lower: -30, upper: 30, scale: {center: 0, by: 2}}", "", "normal", "b[age] normal(0, 3.46); b[w] normal(0, 34.6); Intercept normal(0, 55.1)"},
	} {
		terms, priors, _ := strings.Cut(c.more, ", priors")
		if priors != "" {
			priors = ", priors" + priors
		}
		src := fmt.Sprintf(text, c.response, terms, c.family+priors)
		s, errs := Parse("m.yaml", []byte(src), nil)
		if len(errs) > 0 {
			t.Fatal(c.name, errs)
		}
		bought, list := data.Bought{Priors: map[string]string{}}, []string{}
		for _, p := range s.Model.SpreadPriors(&s.Data) {
			text, ok := p.Text(&s.Data, spread)
			if _, unknown := p.Text(&s.Data, func(string) formula.Spread { return formula.Spread{} }); !ok || unknown {
				t.Errorf("%s: %s", c.name, p.Name)
			}
			bought.Priors[p.Name] = text
			list = append(list, p.Name+" "+text)
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		// The same file with the priors prints them, also after the defaults were printed.
		printed := string(s.Render())
		for _, src := range []string{src, printed} {
			s, errs := ParseSettled("m.yaml", []byte(src), bought, nil)
			if len(errs) > 0 {
				t.Fatal(c.name, errs)
			}
			lines := strings.Split(string(s.Render()), "\n")
			for name, prior := range bought.Priors {
				if !slices.Contains(lines, "    "+name+": "+prior) {
					t.Errorf("%s: no prior %s of %s in\n%s", c.name, prior, name, s.Render())
				}
			}
		}
	}
}

// A column that the others nearly explain has a wide prior, at most 2.5 times that of one of its own.
func TestSpreadPriorOfCollinearColumns(t *testing.T) {
	s, errs := Parse("m.yaml", []byte(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    w: {type: real, lower: 0, upper: 12}
    y: {type: binary}
model: {formula: y ~ 1 + w, family: bernoulli}
`), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for own, want := range map[float64]string{1: "normal(0, 3.46)", 0.25: "normal(0, 6.93)", 0.01: "normal(0, 8.66)"} {
		got, _ := s.Model.SpreadPriors(&s.Data)[0].Text(&s.Data, func(string) formula.Spread { return formula.Spread{Mean: 6, SD: 1, Own: own} })
		if got != want {
			t.Errorf("own part %g: %s, want %s", own, got, want)
		}
	}
}

// TestThresholdPriorGrowsWithLevels compares the default prior of thresholds with √(2L) by hand. With the
// standard deviation 2 of each, 77 % of 64 intervals of eight thresholds held (N = 1000, ε = .3), now 95.
func TestThresholdPriorGrowsWithLevels(t *testing.T) {
	for levels, want := range map[string]string{"0, 1": "2", "0, 1, 2, 3": "2.83", "0, 1, 2, 3, 4, 5, 6, 7, 8": "4.24"} {
		src := fmt.Sprintf("d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 1000}\n  columns:\n    c: {type: category, levels: [p, q]}\n    y: {type: ordinal, levels: [%s]}\nmodel: {formula: y ~ 1 + c, family: cumulative}\n", levels)
		s, errs := Parse("m.yaml", []byte(src), nil)
		if len(errs) > 0 {
			t.Fatal(levels, errs)
		}
		if got := string(s.Render()); !strings.Contains(got, "thresholds: ordered_normal(0, "+want+")\n") {
			t.Errorf("%s: want the standard deviation %s in\n%s", levels, want, got)
		}
	}
}
