package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// goldTask fits the models of gold-posteriors without privacy. It compares every posterior
// mean with the reference, in reference standard deviations, and every standard deviation.
type goldTask struct{}

// goldMargin is the largest allowed distance of a mean, in reference sds, and
// the largest allowed relative error of an sd.
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
	// names are our names of the parameters, in the order of summary.csv.
	names []string
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
	fitted, err := readMoments(filepath.Join(run, "release", "summary.csv"), "variable")
	if err != nil {
		return err
	}
	reference, err := readMoments(filepath.Join(opt.shared, "data", "gold-posteriors", g.folder, "summary.csv"), "parameter")
	if err != nil {
		return err
	}
	if len(reference) != len(g.names) {
		return fmt.Errorf("%d parameters are compared, the reference has %d", len(g.names), len(reference))
	}
	ours := map[string]moments{}
	for _, m := range fitted {
		ours[m.name] = m
	}
	var mean, sd worst
	for i, want := range reference {
		got, ok := ours[raw(ours, g.names[i])]
		if !ok {
			return fmt.Errorf("parameter %s is not compared: the fit has no %s", want.name, g.names[i])
		}
		mean.add(want.name, math.Abs(got.mean-want.mean)/want.sd)
		sd.add(want.name, math.Abs(got.sd/want.sd-1))
	}
	out.line("none", threshold{Task: "gold:" + g.folder, Metric: "max |mean-ref|/sd at " + mean.name,
		Threshold: goldMargin, Direction: "<="}, []float64{mean.value})
	out.line("none", threshold{Task: "gold:" + g.folder, Metric: "max |sd/ref-1| at " + sd.name,
		Threshold: goldMargin, Direction: "<="}, []float64{sd.value})
	return nil
}

// raw is the name of a coefficient in the unit of the file, if the fit has it:
// b_raw[x] for b[x].
func raw(ours map[string]moments, name string) string {
	base, element, _ := strings.Cut(name, "[")
	inFileUnit := base + "_raw"
	if element != "" {
		inFileUnit += "[" + element
	}
	if _, ok := ours[inFileUnit]; ok {
		return inFileUnit
	}
	return name
}

// worst is the largest of several named values.
type worst struct {
	name  string
	value float64
}

func (w *worst) add(name string, value float64) {
	if w.name == "" || !(value <= w.value) {
		w.name, w.value = name, value
	}
}

// moments are the mean and the standard deviation of a parameter.
type moments struct {
	name     string
	mean, sd float64
}

// readMoments reads a summary, whose names are in the column key.
func readMoments(path, key string) ([]moments, error) {
	header, cells, err := readCells(path)
	if err != nil {
		return nil, err
	}
	j, err := index(header, key, "mean", "sd")
	if err != nil {
		return nil, err
	}
	var list []moments
	for _, row := range cells {
		list = append(list, moments{row[j[0]], number(row[j[1]]), number(row[j[2]])})
	}
	return list, nil
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

// names are the names of the parameters, in the order of the references.
func (r regression) names() []string {
	var names []string
	if r.intercept {
		names = append(names, "Intercept")
	}
	for _, p := range r.predictors {
		names = append(names, "b["+p.name+"]")
	}
	if r.family == "normal" {
		names = append(names, "sigma")
	}
	return names
}
