package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// goldTask fits without privacy what gold-posteriors holds and compares every
// posterior mean with the reference, in reference standard deviations.
type goldTask struct{}

// goldMargin is the largest allowed distance of a mean, in reference sds.
const goldMargin = 0.1

func (goldTask) judge(opt options, _ []threshold, dir string, out *report) error {
	for _, g := range golds {
		if err := g.judge(opt, filepath.Join(dir, g.folder), out); err != nil {
			return fmt.Errorf("%s: %w", g.folder, err)
		}
	}
	return nil
}

// gold is one reference posterior: its table, its model and where each of its
// parameters is found in ours.
type gold struct {
	folder string
	load   func(data string) (table, error)
	model  func(rows int) string
	// reference maps the names of summary.csv to functions of our means.
	reference func(means map[string]float64) map[string]float64
}

func (g gold) judge(opt options, dir string, out *report) error {
	t, err := g.load(filepath.Join(opt.shared, "data"))
	if err != nil {
		return err
	}
	if err := (replicate{model: g.model(len(t.rows)), train: t, test: t}).write(dir); err != nil {
		return err
	}
	run := filepath.Join(dir, "run")
	os.RemoveAll(run)
	if err := command(opt.d3p, "fit-nonprivate", "--model", filepath.Join(dir, "model.yaml"), "--out", run, "--quiet",
		filepath.Join(dir, "train.csv")); err != nil {
		return err
	}
	means, err := readSummary(filepath.Join(run, "release", "summary.csv"))
	if err != nil {
		return err
	}
	ours := g.reference(means)
	header, cells, err := readCells(filepath.Join(opt.shared, "data", "gold-posteriors", g.folder, "summary.csv"))
	if err != nil {
		return err
	}
	j, err := index(header, "parameter", "mean", "sd")
	if err != nil {
		return err
	}
	worst, where := 0.0, ""
	for _, row := range cells {
		name := row[j[0]]
		mean, sd := number(row[j[1]]), number(row[j[2]])
		value, ok := ours[name]
		if !ok {
			return fmt.Errorf("parameter %s is not compared", name)
		}
		if d := math.Abs(value-mean) / sd; !(d <= worst) {
			worst, where = d, name
		}
	}
	out.line("none", threshold{Task: "gold:" + g.folder, Metric: "max |mean-ref|/sd at " + where,
		Threshold: goldMargin, Direction: "<="}, []float64{worst})
	return nil
}

// predictor is a column of a regression with its public scale.
type predictor struct {
	name       string
	center, by float64
}

// regression is the model file of a linear or logistic regression whose
// predictors and response are scaled by declared constants.
type regression struct {
	name, family string
	response     predictor
	predictors   []predictor
	intercept    bool
	priorB       string // of the scaled coefficients and intercept
	priorSigma   string // linear only
	lower, upper float64
}

func (r regression) yaml(rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", r.name, rows)
	column := func(p predictor) {
		fmt.Fprintf(&b, "    %s: {type: real, lower: %g, upper: %g, scale: {center: %g, by: %g}, source: expert}\n", p.name, r.lower, r.upper, p.center, p.by)
	}
	terms := []string{"0"}
	if r.intercept {
		terms[0] = "1"
	}
	for _, p := range r.predictors {
		column(p)
		terms = append(terms, p.name)
	}
	if r.family == "bernoulli" {
		fmt.Fprintf(&b, "    %s: {type: binary, levels: [\"0\", \"1\"]}\n", r.response.name)
	} else {
		column(r.response)
	}
	fmt.Fprintf(&b, "model:\n  formula: %s ~ %s\n  family: %s\n  priors:\n    b: %s\n", r.response.name, strings.Join(terms, " + "), r.family, r.priorB)
	if r.intercept {
		fmt.Fprintf(&b, "    Intercept: %s\n", r.priorB)
	}
	if r.priorSigma != "" {
		fmt.Fprintf(&b, "    sigma: %s\n", r.priorSigma)
	}
	b.WriteString("privacy:\n  neighbours: add_remove\n")
	return b.String()
}

// unscaled maps our means to the coefficients of the raw columns:
// names[0] is the intercept's (if there is one), then one per predictor, and
// the residual scale is "sigma".
func (r regression) unscaled(means map[string]float64, names []string) map[string]float64 {
	out := map[string]float64{}
	by := r.response.by
	if by == 0 {
		by = 1
	}
	at := 0
	intercept := r.response.center + by*means["Intercept"]
	if r.intercept {
		at = 1
	}
	for k, p := range r.predictors {
		b := by * means["b["+p.name+"]"] / p.by
		out[names[at+k]] = b
		intercept -= b * p.center
	}
	if r.intercept {
		out[names[0]] = intercept
	}
	if s, ok := means["sigma"]; ok {
		out["sigma"] = by * s
	}
	return out
}
