package sensitivity

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
)

// hospitals is the public table of generated models.
const hospitals = "h,beds,size\nA,300,2\nB,2881,6\nC,431,11\nD,77,3\n"

// families are responses with their declarations; the first column of each is y.
var families = [][2]string{
	{"bernoulli", "{type: binary}"},
	{"poisson", "{type: integer, lower: 0, upper: 20000}"},
	{"normal", "{type: real, lower: -50, upper: 200, scale: {center: 70, by: 20}}"},
	{"student_t", "{type: real, lower: -1000, upper: 1000, scale: {center: 1, by: 3}}"},
	{"negative_binomial", "{type: integer, lower: 0, upper: 1000000}"},
	{"zero_inflated_poisson", "{type: integer, lower: 0, upper: 300}"},
	{"gamma", "{type: real, lower: 0.001, upper: 10000}"},
	{"cumulative", "{type: ordinal, levels: [a, b, c, d]}"},
}

// Generated is a random model: products, curves, offsets, groups with predictors, of
// units with up to five rows.
func Generated(tb testing.TB, rng *rand.Rand) Model {
	tb.Helper()
	family := families[rng.IntN(len(families))]
	reals := []string{
		"{type: real, lower: -4, upper: 4, scale: {center: 0.1, by: 0.7}}",
		"{type: real, lower: 0, upper: 1000000, scale: {center: 333, by: 0.37}}",
		"{type: real, lower: 0.1, upper: 100, transform: log, scale: {center: 1.1, by: 3}}",
		"{type: integer, lower: 18, upper: 100, scale: {center: 60, by: 21}}",
		"{type: real, lower: -10, upper: 10, scale: {center: 0, by: 7}}",
	}
	columns := []string{
		"u: " + reals[rng.IntN(len(reals))], "v: " + reals[rng.IntN(len(reals))], "w: " + reals[4],
		"days: {type: real, lower: 1, upper: 10000}", "c: {type: category, levels: [r, s, t], unknown: reject_row_silently}",
		`h: {type: category, levels_from: "h.csv#h", unknown: reject_row_silently}`,
		"g: {type: category, levels: [k, l, m, n, o, p, q], unknown: reject_row_silently}", "y: " + family[1],
	}
	choices := [][]string{
		{"", "u", "c", "u + c", "u + v", "u * v", "v * c", "u:c + v"},
		{"", "", "poly(w, 3)", "spline(w, -5, 0, 1, 5)"},
		{"", "", "(1 | g)", "(1 + u || g)", "(1 + u | g)"},
	}
	if family[0] != "cumulative" {
		choices = append(choices, []string{"", "", "offset(log(days))"})
	}
	terms := []string{"1"}
	for _, list := range choices {
		if term := list[rng.IntN(len(list))]; term != "" {
			terms = append(terms, term)
		}
	}
	predicted := ""
	if rng.IntN(2) == 0 {
		terms = append(terms, []string{"(1 | h)", "(1 + v | h)"}[rng.IntN(2)])
		predicted = "\n  group_formula: {h: 1 + beds + size}"
	}
	parametrisation := []string{"centred", "non_centred"}[rng.IntN(2)]
	if formula := strings.Join(terms, " + "); strings.Contains(formula, "|") {
		predicted += "\n  parametrisation: " + parametrisation
	}
	text := fmt.Sprintf(`d3p: 1
data:
  unit: {entity: patient, id: id, rows_per_unit: %d}
  rows: {upper_bound: 100}
  columns:
    %s
  tables:
    hospitals:
      file: h.csv
      public: true
      key: h
      columns:
        beds: {type: real, scale: {center: 400, by: 300}}
        size: {type: real, scale: {center: 0, by: 7}}
model:
  formula: y ~ %s%s
  family: %s
`, 1+rng.IntN(5), strings.Join(columns, "\n    "), strings.Join(terms, " + "), predicted, family[0])
	m, err := models.Read("generated.yaml", []byte(text), func(string) ([]byte, error) { return []byte(hospitals), nil })
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	name := fmt.Sprintf("%s, y ~ %s%s", family[0], strings.Join(terms, " + "), predicted)
	return Model{Name: name, Tape: m.Likelihood, Encoding: &m.Encoding}
}
