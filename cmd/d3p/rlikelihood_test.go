package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// With a wide prior and 4000 records the posterior without privacy is near the
// likelihood of R's glm for the same formula: the linear predictors of 200 rows differ by
// less than half of R's standard error.
func TestFormulasAgreeWithR(t *testing.T) {
	if _, err := exec.LookPath("Rscript"); err != nil {
		t.Skip("Rscript is not installed (apt-get install r-base-core)")
	}
	const model = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    x: {type: real, lower: 0.2, upper: 6, scale: {center: 2, by: 1}}
    z: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: FORMULA
  family: bernoulli
  priors: PRIORS
`
	for _, formula := range []string{"y ~ log(x) * g + I(z^2)", "y ~ (x + z + g)^2 - x:g", "y ~ g / z + x", "y ~ x * z + x * g", "g == 'b' ~ x + exp(z / 2)"} {
		t.Run(formula, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			write := func(name, text string) {
				if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			priors := func(sd int) string {
				return strings.NewReplacer("FORMULA", formula, "PRIORS", fmt.Sprintf("{Intercept: \"normal(0, %d)\", b: \"normal(0, %d)\"}", sd, sd)).Replace(model)
			}
			write("narrow.yaml", strings.ReplaceAll(priors(1), "normal(0, 1)", "normal(0, 0.7)"))
			write("wide.yaml", priors(20))
			d3p(t, "simulate", at("narrow.yaml"), "--rows", "4000", "--seed", "5", "--out", at("data.csv"), "--quiet")
			d3p(t, "fit-nonprivate", at("data.csv"), "--model", at("wide.yaml"), "--out", at("run"), "--quiet")
			lines, err := os.ReadFile(at("data.csv"))
			if err != nil {
				t.Fatal(err)
			}
			write("new.csv", strings.Join(strings.SplitAfter(string(lines), "\n")[:201], ""))
			d3p(t, "predict", at("run"), at("new.csv"), "--out", at("predictions.csv"), "--quiet")
			script := fmt.Sprintf("d <- read.csv(%q, stringsAsFactors = TRUE); f <- glm(%s, binomial, d); p <- predict(f, se.fit = TRUE); write.csv(data.frame(p$fit, p$se.fit)[1:200, ], %q, row.names = FALSE)",
				at("data.csv"), formula, at("r.csv"))
			if out, err := exec.Command("Rscript", "-e", script).CombinedOutput(); err != nil {
				t.Fatalf("Rscript: %v\n%s", err, out)
			}
			ours, theirs := numbersIn(t, at("predictions.csv")), numbersIn(t, at("r.csv"))
			worst := 0.0
			for i, r := range theirs {
				p := ours[i][1]
				worst = max(worst, math.Abs(math.Log(p/(1-p))-r[0])/r[1])
			}
			if t.Logf("largest difference: %.2f standard errors", worst); !(worst < 0.5) {
				t.Errorf("a linear predictor is %.2f standard errors from R's", worst)
			}
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
