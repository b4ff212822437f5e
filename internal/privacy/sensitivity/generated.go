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

// A response is the response of a generated model.
type response struct {
	family      string
	column      string // the declaration of y
	left        string // of the formula; "" is y
	more        string // lines of the model file
	noOffset    bool
	independent bool // no correlated effects and no predictors of groups
}

const (
	positive    = "{type: real, lower: 0.001, upper: 10000}"
	wholeNumber = "{type: integer, lower: 0, upper: 20000}"
	scaledBy    = "{type: real, lower: -50, upper: 200, scale: {center: 70, by: 20}}"
	ordinal     = "{type: ordinal, levels: [a, b, c, d]}"
)

// responses are every family, and every link whose mean or predictor has a bound.
var responses = []response{
	{family: "bernoulli", column: "{type: binary}"},
	{family: "bernoulli", column: "{type: binary}", more: "link: probit"},
	{family: "bernoulli", column: "{type: binary}", more: "link: cloglog"},
	{family: "bernoulli", column: scaledBy, left: "y > 60"},
	{family: "binomial", column: wholeNumber, left: "y | trials(20000)"},
	{family: "binomial", column: wholeNumber, left: "y | trials(n)", more: "link: cloglog"},
	{family: "beta_binomial", column: wholeNumber, left: "y | trials(20000)"},
	{family: "beta_binomial", column: wholeNumber, left: "y | trials(n)", more: "link: probit"},
	{family: "normal", column: scaledBy},
	{family: "normal", column: scaledBy, more: "link: log"},
	{family: "normal", column: scaledBy, more: "sigma: 1 + c"},
	{family: "normal", column: scaledBy, more: "sigma: 1 + poly(w, 2) + (1 | g)"},
	{family: "normal", column: "{type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}", more: "link: tan_half"},
	{family: "student_t", column: "{type: real, lower: -1000, upper: 1000, scale: {center: 1, by: 3}}"},
	{family: "skew_normal", column: scaledBy},
	{family: "laplace", column: scaledBy},
	{family: "poisson", column: wholeNumber},
	{family: "poisson", column: wholeNumber, more: "link: identity"},
	{family: "poisson", column: wholeNumber, more: "link: sqrt"},
	{family: "poisson", column: wholeNumber, left: "surv(y, e)"},
	{family: "negative_binomial", column: "{type: integer, lower: 0, upper: 1000000}"},
	{family: "negative_binomial", column: wholeNumber, more: "link: softplus"},
	{family: "zero_inflated_poisson", column: "{type: integer, lower: 0, upper: 300}"},
	{family: "zero_inflated_negative_binomial", column: wholeNumber},
	{family: "zero_one_inflated_beta", column: "{type: real, lower: 0, upper: 1}"},
	{family: "zero_one_inflated_beta", column: "{type: real, lower: 0, upper: 1}", more: "link: probit\n  zoi: 1 + c"},
	{family: "hurdle_poisson", column: wholeNumber},
	{family: "hurdle_negative_binomial", column: wholeNumber, more: "hu: 1 + c + (1 + u | g)"},
	{family: "gamma", column: positive},
	{family: "gamma", column: positive, more: "link: inverse"},
	{family: "gamma", column: positive, left: "surv(y, e)"},
	{family: "exponential", column: positive, more: "link: softplus"},
	{family: "weibull", column: positive, left: "surv(y, e)"},
	{family: "log_logistic", column: positive},
	{family: "log_logistic", column: positive, left: "surv(y, e)"},
	{family: "gompertz", column: positive},
	{family: "gompertz", column: positive, left: "surv(y, e)"},
	{family: "inverse_gaussian", column: positive},
	{family: "piecewise_exponential", column: positive, left: "surv(y, e)", more: "cuts: [0.5, 10, 500]"},
	{family: "log_normal", column: positive, left: "surv(y, e)"},
	{family: "weibull", column: positive, left: "surv(days, y, e)"},
	{family: "negative_binomial", column: "{type: integer, lower: 1, upper: 20000}", left: "y | trunc(lb = 1)"},
	{family: "normal", column: scaledBy, left: "y | trunc(lb = -60, ub = 300)"},
	{family: "beta", column: "{type: real, lower: 0.001, upper: 0.999}"},
	{family: "categorical", column: "{type: category, levels: [a, b, c, d]}", noOffset: true, independent: true},
	{family: "cumulative", column: ordinal, noOffset: true},
	{family: "cumulative", column: ordinal, more: "link: probit", noOffset: true},
	{family: "cumulative", column: ordinal, more: "link: cloglog", noOffset: true},
	{family: "sratio", column: ordinal, noOffset: true},
	{family: "cratio", column: ordinal, noOffset: true},
	{family: "acat", column: ordinal, noOffset: true},
}

// Generated is a random model of the i-th response: products, derived columns, curves,
// offsets, weights, groups with predictors and groups of pairs, of units with up to five
// rows.
func Generated(tb testing.TB, i int, rng *rand.Rand) Model {
	tb.Helper()
	y := responses[i%len(responses)]
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
		"g: {type: category, levels: [k, l, m, n, o, p, q], unknown: reject_row_silently}", "e: {type: binary}", "n: {type: integer, lower: 1, upper: 20000}", "weight: {type: real, lower: 0, upper: 50}", "y: " + y.column,
	}
	terms, predicted := y.formula(rng)
	left, weights := "y", ""
	if y.left != "" {
		left = y.left
	}
	if rng.IntN(4) == 0 {
		weights = "\n  weights: weight"
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
  derive:
    ratio: {is: w / days, lower: -0.01, upper: 5, scale: {center: 0.1, by: 0.03}}
    band: w > 1 and c == 'r'
    pair: cross(c, g)
    merged: {is: g, levels: {first: [k, l], rest: [m, n, o, p, q]}}%s
model:
  formula: %s ~ %s%s
  family: %s
`, 1+rng.IntN(5), strings.Join(columns, "\n    "), weights, left, strings.Join(terms, " + "), predicted, y.family)
	m, err := models.Read("generated.yaml", []byte(text), func(string) ([]byte, error) { return []byte(hospitals), nil })
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	name := fmt.Sprintf("%s, %s ~ %s%s%s", y.family, left, strings.Join(terms, " + "), predicted, weights)
	return Model{Name: name, Tape: m.Likelihood, Encoding: &m.Encoding, Compiled: m}
}

// formula draws the terms of a formula, and the lines of the model file that go with them.
func (y response) formula(rng *rand.Rand) (terms []string, predicted string) {
	choices := [][]string{
		{"", "u", "c", "u + c", "u + v", "u * v", "v * c", "u:c + v"},
		{"", "", "cut(w, -5, 0, 2)", "band + ratio", "pair", "merged:band"},
	}
	choices = append(choices, []string{"", "", "poly(w, 3)", "spline(w, -5, 0, 1, 5)", "poly(w, 2) * v"})
	groups := []string{"", "", "(1 | g)", "(1 + u || g)", "(1 | g:c)", "(1 | c/g)"}
	if !y.independent {
		groups = append(groups, "(1 + u | g)")
	}
	choices = append(choices, groups)
	if !y.noOffset {
		choices = append(choices, []string{"", "", "offset(log(days))"})
	}
	terms = []string{"1"}
	for _, list := range choices {
		if term := list[rng.IntN(len(list))]; term != "" {
			terms = append(terms, term)
		}
	}
	if !y.independent && rng.IntN(2) == 0 {
		terms = append(terms, []string{"(1 | h)", "(1 + v | h)"}[rng.IntN(2)])
		predicted = "\n  group_formula: {h: 1 + beds + size}"
	}
	parametrisation := []string{"centred", "non_centred"}[rng.IntN(2)]
	if formula := strings.Join(terms, " + ") + y.more; strings.Contains(formula, "|") {
		predicted += "\n  parametrisation: " + parametrisation
	}
	if y.more != "" {
		predicted += "\n  " + y.more
	}
	return terms, predicted
}
