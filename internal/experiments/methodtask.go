package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// methodTask fits public tables by every method that applies to their model, and scores
// the predictions for the records of test.csv.
type methodTask struct{}

// methodTable is a public table, the folder below data/ with its train.csv and test.csv,
// and the response of its model.
type methodTable struct {
	name, folder, model string
	response            string
	value               func(cell string) float64
	metric              string // acc, or rmse of a number
	methods             []method
}

// method is a list of arguments of d3p fit and lines for the end of the model file.
type method struct {
	name, more string
	args       []string
}

var (
	robust      = "likelihood: {divergence: beta, beta: 1.5}\n"
	defaults    = method{"variational inference, defaults", "", nil}
	point       = method{"DP-SGD point estimate", "", []string{"--guide", "delta"}}
	betaFit     = method{"variational inference, beta divergence", robust, nil}
	oneDraw     = method{"one draw, beta divergence", robust, []string{"--method", "one_posterior_sample", "--accept-risk", "approximate-sampler"}}
	exactDraw   = method{"one exact draw", "", []string{"--method", "one_posterior_sample"}}
	statistics  = method{"sufficient statistics", "", []string{"--noise-aware", "moments"}}
	gibbs       = method{"Gibbs posterior", "", []string{"--method", "gibbs_posterior"}}
	perturbed   = method{"output perturbation", "", []string{"--method", "output_perturbation"}}
	objective   = method{"objective perturbation", "", []string{"--method", "objective_perturbation"}}
	adaSSP      = method{"AdaSSP", "", []string{"--method", "adassp"}}
	curvature   = method{"variational inference, curvature", "", []string{"--noise-aware", "curvature"}}
	categorical = []method{defaults, betaFit, oneDraw, exactDraw, gibbs, perturbed, objective, point}
)

var methodTables = []methodTable{
	{"wells", "wells", columnsOf("wells", "household", 2416) + `  columns:
    switched: {type: binary}
    arsenic: {type: real, lower: 0, upper: 20}
    dist: {type: real, lower: 0, upper: 1000}
    assoc: {type: binary}
    educ: {type: integer, lower: 0, upper: 20}
model: {formula: switched ~ arsenic + dist + assoc + educ, family: bernoulli}
`, "switched", number, "acc", categorical},
	{"abalone", "abalone", columnsOf("abalone", "animal", 3342) + `  columns:
    sex: {type: category, levels: [F, I, M]}
    length: {type: real, lower: 0, upper: 1}
    whole_weight: {type: real, lower: 0, upper: 3}
    shucked_weight: {type: real, lower: 0, upper: 2}
    rings: {type: integer, lower: 0, upper: 40}
model: {formula: rings > 9 ~ sex + length + whole_weight + shucked_weight, family: bernoulli}
`, "rings", func(cell string) float64 { return indicator(number(cell) > 9) }, "acc", categorical},
	{"adult", "adult", realTableModel("adult"), "income", func(cell string) float64 { return indicator(cell == ">50K") }, "acc", categorical},
	{"nhanes pressure", "nhanes", realTableModel("nhanes pressure"), "BPSysAve", number, "rmse", []method{statistics, adaSSP, curvature, point}},
}

// realTableModel is the model of the named table of realTables.
func realTableModel(name string) string {
	i := slices.IndexFunc(realTables, func(t realTable) bool { return t.name == name })
	return realTables[i].model
}

// judge implements experiment.
func (methodTask) judge(opt options, _ []threshold, dir string, out *report) error {
	runs := cmp.Or(opt.runs, 10)
	epsilons, err := numbers(opt.epsilons, "0.3,1,4")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, t := range methodTables {
		if !asked(opt.models, t.name) {
			continue
		}
		exact, err := t.measure(opt, method{args: []string{"fit-nonprivate"}}, dir)
		if err != nil {
			return err
		}
		out.note(t.name, "none", fmt.Sprintf("without privacy: %s %.4g", t.metric, exact))
		for _, epsilon := range epsilons {
			for _, m := range t.methods {
				if !asked(opt.methods, m.name) {
					continue
				}
				private := m
				private.args = append([]string{"fit", "--epsilon", fmt.Sprint(epsilon)}, m.args...)
				var values []float64
				for k := range runs {
					fmt.Fprintf(os.Stderr, "methods: %s, %s at %g, fit %d of %d\n", t.name, m.name, epsilon, k+1, runs)
					value, err := t.measure(opt, private, dir)
					if err != nil {
						return err
					}
					values = append(values, value)
				}
				mean, se := meanSE(values)
				out.note(t.name, fmt.Sprint(epsilon), fmt.Sprintf("%s: %s %.4g (se %.2g, %d fits)", m.name, t.metric, mean, se, runs))
			}
		}
	}
	return nil
}

// measure fits train.csv by the command of m and scores predictions for test.csv.
func (t methodTable) measure(opt options, m method, dir string) (float64, error) {
	data := filepath.Join(opt.shared, "data", t.folder)
	model, run, predictions := filepath.Join(dir, "model.yaml"), filepath.Join(dir, "run"), filepath.Join(dir, "predictions.csv")
	if _, err := os.Stat(data); err != nil {
		return 0, err
	}
	for _, path := range []string{run, predictions} {
		if err := os.RemoveAll(path); err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(model, []byte(t.model+m.more), 0o644); err != nil {
		return 0, err
	}
	if err := command(opt.d3p, append(m.args, "--model", model, "--out", run, "--quiet", filepath.Join(data, "train.csv"))...); err != nil {
		return 0, err
	}
	if err := command(opt.d3p, "predict", run, filepath.Join(data, "test.csv"), "--out", predictions, "--quiet"); err != nil {
		return 0, err
	}
	return t.score(predictions, filepath.Join(data, "test.csv"))
}

// score compares predictions with the rows of test that have a prediction and a response.
func (t methodTable) score(predictions, test string) (float64, error) {
	header, predicted, err := readCells(predictions)
	if err != nil {
		return 0, err
	}
	at, err := index(header, "row", "mean")
	if err != nil {
		return 0, err
	}
	header, truth, err := readCells(test)
	if err != nil {
		return 0, err
	}
	response, err := index(header, t.response)
	if err != nil {
		return 0, err
	}
	var p, y []float64
	for _, cells := range predicted {
		row, err := strconv.Atoi(cells[at[0]])
		if err != nil || row < 1 || row > len(truth) {
			return 0, fmt.Errorf("%s: %q is no row of %s", predictions, cells[at[0]], test)
		}
		mean, outcome := number(cells[at[1]]), t.value(truth[row-1][response[0]])
		if !math.IsNaN(mean + outcome) {
			p, y = append(p, mean), append(y, outcome)
		}
	}
	if t.metric == "rmse" {
		return rmse(p, y), nil
	}
	return binaryMetrics(p, y)[t.metric], nil
}
