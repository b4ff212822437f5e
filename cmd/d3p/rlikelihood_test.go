package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
)

// formulaModel is a model file with a formula and priors of one standard deviation.
func formulaModel(formula string, sd float64) string {
	return fmt.Sprintf(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    x: {type: real, lower: 0.2, upper: 6, scale: {center: 2, by: 1}}
    z: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: %s
  family: bernoulli
  priors: {Intercept: "normal(0, %[2]g)", b: "normal(0, %[2]g)"}
`, formula, sd)
}

// The linear predictors of a formula are those of R's lm: R has as many coefficients, and finds
// coefficients for a predictor at random parameters.
func TestFormulasAgreeWithR(t *testing.T) {
	ask := startR(t)
	ask(t, "span <- function(file, f) { d <- read.csv(file, stringsAsFactors = TRUE); l <- lm(f, d); cat(l$rank, max(abs(resid(l))) / sd(d$eta), '\\n') }; cat('ready\\n')\n")
	for _, formula := range []string{"y ~ log(x) * g + I(z^2)", "y ~ (x + z + g)^2 - x:g", "y ~ g / z + x", "y ~ x * z + x * g", "g == 'b' ~ x + exp(z / 2)", "y ~ poly(x, 2) * z"} {
		t.Run(formula, func(t *testing.T) {
			m := modelstest.Compile(t, "formula.yaml", formulaModel(formula, 0.7))
			const records = 400
			table, theta := simulate.Prior(m, records, noise.NewRandom(noise.Public(5).Stream(noise.Simulation)))
			file := filepath.Join(t.TempDir(), "data.csv")
			if err := outfile.WriteTable(file, table, "", nil); err != nil {
				t.Fatal(err)
			}
			response, predictors, _ := strings.Cut(formula, " ~ ")
			for i, c := range table.Columns {
				if strings.HasPrefix(response, c.Name.V) { // 1 and b are level 1: every event occurs
					for b := range table.Values[i] {
						table.Values[i][b] = 1
					}
				}
			}
			machine := graph.NewMachine(m.Likelihood, records)
			machine.Globals(theta, nil)
			machine.Records(simulate.Encode(m, table, records), m.Encoding.K, records, nil)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			lines[0] += ",eta"
			for i, loss := range machine.Loss() { // log of logistic(eta)
				lines[i+1] += fmt.Sprintf(",%.17g", -math.Log(math.Expm1(-loss)))
			}
			if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var rank int
			var residual float64
			out := ask(t, fmt.Sprintf("span(%q, eta ~ %s)\n", file, predictors))
			if n, err := fmt.Sscan(out, &rank, &residual); n != 2 || rank != m.P || !(residual < 1e-6) {
				t.Errorf("%d parameters, in R %d; R's largest residual is %g standard deviations (%v)", m.P, rank, residual, err)
			}
		})
	}
}

// With a wide prior and 4000 records the posterior without privacy is near the likelihood of
// R's glm for the same formula: the linear predictors of 200 rows differ by less than half of
// R's standard error.
func TestPredictionsAgreeWithR(t *testing.T) {
	ask := startR(t)
	const formula = "y ~ log(x) * g + I(z^2)"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("narrow.yaml", formulaModel(formula, 0.7))
	write("wide.yaml", formulaModel(formula, 20))
	d3p(t, "simulate", at("narrow.yaml"), "--rows", "4000", "--seed", "5", "--out", at("data.csv"), "--quiet")
	d3p(t, "fit-nonprivate", at("data.csv"), "--model", at("wide.yaml"), "--out", at("run"), "--quiet")
	lines, err := os.ReadFile(at("data.csv"))
	if err != nil {
		t.Fatal(err)
	}
	write("new.csv", strings.Join(strings.SplitAfter(string(lines), "\n")[:201], ""))
	d3p(t, "predict", at("run"), at("new.csv"), "--out", at("predictions.csv"), "--quiet")
	ask(t, fmt.Sprintf("d <- read.csv(%q, stringsAsFactors = TRUE); f <- glm(%s, binomial, d); p <- predict(f, se.fit = TRUE); write.csv(data.frame(p$fit, p$se.fit)[1:200, ], %q, row.names = FALSE); cat('written\\n')\n",
		at("data.csv"), formula, at("r.csv")))
	ours, theirs := numbersIn(t, at("predictions.csv")), numbersIn(t, at("r.csv"))
	worst := 0.0
	for i, r := range theirs {
		p := ours[i][1]
		worst = max(worst, math.Abs(math.Log(p/(1-p))-r[0])/r[1])
	}
	if t.Logf("largest difference: %.2f standard errors", worst); !(worst < 0.5) {
		t.Errorf("a linear predictor is %.2f standard errors from R's", worst)
	}
}

// Truncated responses have R's likelihood: times, some censored, of those who got past their
// entry, and counts and numbers of a limited range.
func TestTruncationAgreesWithR(t *testing.T) {
	ask := startR(t)
	ask(t, rHelpers+"cat('ready\\n')\n")
	for name, c := range map[string]struct{ formula, columns, priors, density string }{
		"entry": {
			"surv(e, y, d) ~ x\n  family: weibull", "y: {type: real, lower: 1e-6, upper: 1e6, scale: {center: 0, by: 1}}\n    e: {type: real, lower: 0, upper: 2, scale: {center: 0, by: 1}}\n    d: {type: binary, levels: [\"0\", \"1\"]}",
			`shape: "log_normal(0.5, 1e-3)"`,
			"s <- exp(p[1] + p[2] * d$x); ifelse(d$d == 1, dweibull(d$y, p[3], s, log = TRUE), pweibull(d$y, p[3], s, FALSE, TRUE)) - pweibull(d$e, p[3], s, FALSE, TRUE)",
		},
		"counts": {
			"y | trunc(lb = 1, ub = 9) ~ x\n  family: poisson", "y: {type: integer, lower: 1, upper: 9}",
			"", "m <- exp(p[1] + p[2] * d$x); dpois(d$y, m, TRUE) - log(ppois(9, m) - ppois(0, m))",
		},
		"numbers": {
			"y | trunc(lb = 0) ~ x\n  family: normal", "y: {type: real, lower: 1e-9, upper: 1e6, scale: {center: 1, by: 2}}",
			`sigma: "log_normal(-0.7, 1e-3)"`,
			"m <- 1 + 2 * (p[1] + p[2] * d$x); dnorm(d$y, m, 2 * p[3], TRUE) - pnorm(0, m, 2 * p[3], FALSE, TRUE)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := modelstest.Compile(t, "truth.yaml", fmt.Sprintf("d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 1000}\n  columns:\n    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}\n    %s\nmodel:\n  formula: %s\n  priors: {Intercept: \"normal(0.3, 1e-3)\", b: \"normal(0.4, 1e-3)\", %s}\n", c.columns, c.formula, c.priors))
			sameLikelihood(t, ask, m, "function(p, d) { "+c.density+" }")
		})
	}
}

// numbersIn are the rows of a CSV file below its header.
func numbersIn(t *testing.T, path string) (rows [][]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		row := make([]float64, len(record))
		for j, cell := range record {
			row[j], _ = strconv.ParseFloat(cell, 64) // words are not compared
		}
		rows = append(rows, row)
	}
	return rows
}
