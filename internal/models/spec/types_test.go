package spec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
)

// A type of another tool gets what to write here.
func TestTypesOfOtherTools(t *testing.T) {
	for word, want := range map[string]string{
		"count": "write `type: integer, lower: 0`", "Factor": "write `type: category, levels: [...]`", "float64": "write `type: real`",
		"bool": "write `type: binary, levels: [no, yes]`", "timestamp": "write `type: date`", "reel": "did you mean real?", "vector": "one of: real, integer",
	} {
		hints(t, "unknown type "+word, want, word, "normal")
	}
}

// A family of another tool, too.
func TestFamiliesOfOtherTools(t *testing.T) {
	for word, want := range map[string]string{
		"ordinal": "write `family: cumulative`", "Logistic": "write `family: bernoulli`", "negbin": "write `family: negative_binomial`", "zip": "write `family: zero_inflated_poisson`",
		"coxph": "write `family: piecewise_exponential`", "glm.nb": "write `family: negative_binomial`", `cumulative("probit")`: "write `family: cumulative` and `link: probit`",
		`Gamma(link = "log")`: "write `family: Gamma` and `link: log`", "poisson()": "write `family: poisson`", `clm("logit")`: "write `family: cumulative` and `link: logit`",
		"poison": "did you mean poisson?", "whatever": "one of: bernoulli, binomial",
	} {
		hints(t, "unknown family "+word, want, "real", word)
	}
}

// What to spend is written where it is spent.
func TestSpendHasItsPlaces(t *testing.T) {
	_, err := spec.Parse("m.yaml", []byte("d3p: 1\nspend: {table1: 0.05}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "m.yaml:2:1: unknown key spend in the model file (write the share of the budget as `table1: 0.05` under privacy:") {
		t.Error(err)
	}
}

// hints expects the message and the start of the hint of a file that declares y of a type and a family.
func hints(t *testing.T, message, hint, of, family string) {
	t.Helper()
	text := fmt.Sprintf("d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 10}\n  columns:\n    y: {type: %s, lower: 0, upper: 9}\nmodel: {formula: y ~ 1, family: %s}\n", of, family)
	_, err := spec.Parse("m.yaml", []byte(text), nil)
	var all expr.Errors
	if !errors.As(err, &all) || !strings.HasPrefix(all[0].Hint, hint) || all[0].Message != message {
		t.Errorf("%v, want %s and the hint %s", err, message, hint)
	}
}
