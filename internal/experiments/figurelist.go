package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"d3p/internal/experiments/attack"
	"d3p/internal/experiments/published"
	"d3p/internal/privacy/noise"
	"d3p/internal/report/figure"
)

// figures are the figures of docs/results/figures. Their papers are named in
// docs/results/figures.md.
var figures = []figureTask{
	{name: "fig-abalone", panels: abalonePanels, fits: 10},
	{name: "fig-hierarchical", panels: hierarchicalPanels, fits: 10},
	{name: "fig-iterations", panels: iterationPanels, fits: 10},
	{name: "fig-mixture", panels: mixturePanels, fits: 10},
	{name: "fig-step", panels: stepPanels, fits: 3, timed: true},
	{name: "fig-auto-encoder", panels: autoEncoderPanels, fits: 20},
	{name: "fig-one-draw", panels: oneDrawPanels, fits: 10, simulated: true},
	{name: "fig-clip-bound", panels: clipBoundPanels, fits: 10, simulated: true},
	{name: "fig-neural", panels: neuralPanels, fits: 3, simulated: true},
	{name: "fig-attack", panels: attackPanels, fits: 1, simulated: true},
	{name: "fig-groups", panels: groupsPanels, fits: 3},
}

// shipped measures a metric of a task's fits with its own replicates, with further
// arguments of d3p fit.
func (t task) shipped(shared, metric string, args func(x float64) []string, epsilon func(x float64) float64) func(options, float64, int, string) (float64, error) {
	load := sync.OnceValues(func() ([]replicate, error) { return t.load(shared) })
	return func(opt options, x float64, k int, dir string) (float64, error) {
		replicates, err := load()
		if err != nil {
			return 0, err
		}
		r := replicates[k%len(replicates)]
		if err := r.write(dir); err != nil {
			return 0, err
		}
		e, with := epsilon(x), t
		with.fitArgs = append(args(x), t.fitArgs...)
		s := setting{label: fmt.Sprint(e), epsilon: &e}
		if math.IsInf(e, 1) {
			s.epsilon = nil
		}
		metrics, err := with.fit(opt.d3p, r, s, variant{}, k, dir, filepath.Join(dir, "run"))
		return metrics[metric], err
	}
}

// byEpsilon are curves of a metric against epsilon: d3p's defaults, and the algorithm of
// the Python package.
func (t task) byEpsilon(shared, metric string, epsilons []float64) []curve {
	same := func(x float64) float64 { return x }
	return []curve{
		{"d3p, defaults", epsilons, t.shipped(shared, metric, func(float64) []string { return nil }, same)},
		{"algorithm of the Python package (--compat d3p)", epsilons, t.shipped(shared, metric, func(float64) []string { return []string{"--compat", "d3p"} }, same)},
	}
}

// fromReference are the means of an independent implementation of the defaults.
func fromReference(task, metric string) (figure.Series, error) {
	rows, err := readThresholds()
	s := figure.Series{Name: "independent implementation of the defaults"}
	for _, row := range rows {
		if row.Task == task && row.Metric == metric && row.Epsilon != nil {
			s.Points = append(s.Points, figure.Measured{X: *row.Epsilon, Mean: row.Mean, SE: row.SE})
		}
	}
	return s, err
}

// abalonePanels are accuracies on Abalone (Jälkö, Dikmen and Honkela 2017, figure 1): at
// the true epsilon of the published runs, and at one epsilon by sampling rate and clip
// norm.
func abalonePanels(shared string) ([]panel, error) {
	published, err := published.Accuracies()
	if err != nil {
		return nil, err
	}
	most := published.Points[len(published.Points)-1].X
	fixed := func(float64) float64 { return most }
	of := func(name string) func(float64) []string {
		return func(x float64) []string { return []string{name, fmt.Sprint(x)} }
	}
	return []panel{
		{title: "Abalone", x: "epsilon", y: "accuracy", log: true, curves: abaloneTask.byEpsilon(shared, "acc", []float64{0.029, 0.0391, 0.0571, 0.0959, 0.2285, 0.5, 1, 4}), published: []figure.Series{published}},
		{title: "Abalone at epsilon 0.228", x: "sampling rate", y: "accuracy", log: true, curves: []curve{
			{"d3p, by sampling rate", []float64{0.01, 0.03, 0.1, 0.3, 1}, abaloneTask.shipped(shared, "acc", of("--sampling-rate"), fixed)},
		}},
		{title: "Abalone at epsilon 0.228", x: "clip norm", y: "accuracy", log: true, curves: []curve{
			{"d3p, by clip norm", []float64{0.1, 0.3, 1, 3, 10}, abaloneTask.shipped(shared, "acc", of("--clip-norm"), fixed)},
		}},
	}, nil
}

// oneDrawPanels are the errors of coefficients of a logistic regression against the number of
// records, at epsilon 1, and against epsilon, with 300 records: by one draw of the posterior, with
// bounded scores (Jewson, Ghalebikesabi and Holmes 2023) or exact, and by variational inference.
func oneDrawPanels(string) ([]panel, error) {
	truth := []float64{1, -0.5, 0.25, -0.125}
	names := numbered("x", len(truth))
	drawn := func(n, k int) replicate {
		return drawLogistic("one", n, k, truth, func(rng *noise.Random) float64 { return rng.Normal() })
	}
	score := func(more string, args []string, metric func(w []float64) float64, setting func(x float64) (records int, epsilon float64)) func(options, float64, int, string) (float64, error) {
		return func(opt options, x float64, k int, dir string) (float64, error) {
			n, epsilon := setting(x)
			r := drawn(n, k)
			r.model += more
			w, err := r.coefficients(opt, names, epsilon, args, dir)
			return metric(w), err
		}
	}
	signs := func(w []float64) float64 { return rightSigns(w, truth) }
	errorOf := func(w []float64) float64 { return rmse(w, truth) }
	byRecords := func(x float64) (int, float64) { return int(x), 1 }
	byEpsilon := func(x float64) (int, float64) { return 300, x }
	records, epsilons := []float64{100, 200, 500, 1000, 3000, 10000}, []float64{0.03, 0.1, 0.3, 1, 3, 10}
	oneSample := []string{"--method", "one_posterior_sample", "--accept-risk", "approximate-sampler"}
	curves := func(metric func([]float64) float64, places []float64, setting func(float64) (int, float64)) []curve {
		return []curve{
			{"variational inference, defaults", places, score("", nil, metric, setting)},
			{"variational inference, beta divergence", places, score(robustLikelihood, nil, metric, setting)},
			{"one draw, beta divergence", places, score(robustLikelihood, oneSample, metric, setting)},
			{"one exact draw", places, score("", oneSample[:2], metric, setting)},
		}
	}
	return []panel{
		{title: "Four coefficients at epsilon 1", x: "records", y: "root mean square error", log: true, curves: curves(errorOf, records, byRecords)},
		{title: "Signs of four coefficients at epsilon 1", x: "records", y: "share of right signs", log: true, curves: curves(signs, records, byRecords)},
		{title: "Four coefficients of 300 records", x: "epsilon", y: "root mean square error", log: true, curves: curves(errorOf, epsilons, byEpsilon)},
	}, nil
}

// clipBoundPanels are the errors of two coefficients against the clip norm: of the log likelihood,
// and of a beta divergence, whose gradients have a bound of 0.64, beyond which no clip norm goes.
func clipBoundPanels(string) (list []panel, err error) {
	truth := []float64{1, -0.5}
	for _, n := range []int{300, 3000} {
		of := func(more string) func(options, float64, int, string) (float64, error) {
			return func(opt options, norm float64, k int, dir string) (float64, error) {
				r := drawLogistic("bounded", n, k, truth, func(rng *noise.Random) float64 { return 2*rng.Uniform() - 1 })
				r.model = strings.ReplaceAll(r.model, "lower: -200, upper: 200", "lower: -1, upper: 1") + more
				w, err := r.coefficients(opt, numbered("x", len(truth)), 1, []string{"--clip-norm", fmt.Sprint(norm), "--table1", "none"}, dir)
				return rmse(w, truth), err
			}
		}
		norms := []float64{0.1, 0.2, 0.4, 0.8, 1.6}
		list = append(list, panel{title: fmt.Sprintf("Two coefficients of %d records at epsilon 1", n), x: "declared clip norm", y: "root mean square error", log: true, curves: []curve{
			{"log likelihood", norms, of("")},
			{"beta divergence: at most its bound", norms, of(robustLikelihood)},
		}})
	}
	return list, nil
}

const robustLikelihood = "likelihood: {divergence: beta, beta: 1.5}\n"

// neuralModel is a neural regression of 25 weights.
const neuralModel = `d3p: 1
name: neural
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    x1: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}, source: expert}
    x2: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}, source: expert}
    x3: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}, source: expert}
    y: {type: real, lower: -8, upper: 8, scale: {center: 0, by: 1}, source: expert}
core:
  dims: {k: [x1, x2, x3], h: 5}
  params:
    inner: normal(0, 1) [k, h]
    bias: normal(0, 1) [h]
    outer: normal(0, 1) [h]
  rows:
    let:
      hidden: tanh(columns(k) @ inner + bias)
      mean: sum(hidden * outer)
    observe:
      y: normal(mean, 0.5)
`

// drawNeural is table k of n records and as many to predict, of a network drawn from its prior.
// Its y are the means without noise.
func drawNeural(n, k int) replicate {
	const inputs, hidden = 3, 5
	rng := noise.NewRandom(noise.Public(uint64(1000*n + k)).Stream(noise.Simulation))
	weights := make([]float64, hidden*(inputs+2))
	for i := range weights {
		weights[i] = rng.Normal()
	}
	r := replicate{model: fmt.Sprintf(neuralModel, n), train: table{header: []string{"x1", "x2", "x3", "y"}}}
	r.test.header = r.train.header
	for i := range 2 * n {
		row, mean := make([]float64, inputs+1), 0.0
		for j := range inputs {
			row[j] = min(max(rng.Normal(), -4), 4)
		}
		for h := range hidden {
			w := weights[h*(inputs+2):]
			mean += w[inputs+1] * math.Tanh(w[inputs]+w[0]*row[0]+w[1]*row[1]+w[2]*row[2])
		}
		row[inputs] = min(max(mean+0.5*rng.Normal(), -8), 8)
		if i < n {
			r.train.rows = append(r.train.rows, row)
			continue
		}
		r.test.rows, r.y = append(r.test.rows, row), append(r.y, mean)
	}
	return r
}

// neuralPanels are the errors of a neural regression's mean against the number of records, at
// epsilon 1 (Jewson, Ghalebikesabi and Holmes 2023).
func neuralPanels(string) ([]panel, error) {
	of := func(more string, args ...string) func(options, float64, int, string) (float64, error) {
		t := task{delta: 1e-5, fitArgs: args, score: func(r replicate, predicted []float64, _ map[string]float64) map[string]float64 {
			return map[string]float64{"rmse": rmse(predicted, r.y)}
		}}
		return func(opt options, n float64, k int, dir string) (float64, error) {
			r, epsilon := drawNeural(int(n), k), 1.0
			r.model += more
			if err := r.write(dir); err != nil {
				return 0, err
			}
			metrics, err := t.fit(opt.d3p, r, setting{label: "1", epsilon: &epsilon}, variant{}, k, dir, filepath.Join(dir, "run"))
			return metrics["rmse"], err
		}
	}
	records := []float64{100, 300, 1000}
	return []panel{{title: "Neural regression of 25 weights at epsilon 1", x: "records", y: "root mean square error of the mean", log: true, curves: []curve{
		{"variational inference, defaults", records, of("")},
		{"variational inference, beta divergence", records, of(robustLikelihood)},
		{"one draw, beta divergence", records, of(robustLikelihood, "--method", "one_posterior_sample", "--accept-risk", "approximate-sampler")},
	}}}, nil
}

// attackPanels are the shares of claimed epsilons that the best test of membership refutes at
// 99 % confidence (Jewson, Ghalebikesabi and Holmes 2023, Remark 1).
func attackPanels(string) ([]panel, error) {
	const fits, wrong = 10_000, 0.01
	claims := []float64{0.5, 1, 2, 4}
	p := panel{title: "One record of nine, attacked", x: "claimed epsilon", y: "refuted share of it", log: true}
	for i, method := range attack.Methods {
		p.curves = append(p.curves, curve{method.Name, claims, func(_ options, epsilon float64, k int, _ string) (float64, error) {
			refuted, err := method.Refuted(epsilon, fits, wrong, uint64(1000*i+k+1))
			return refuted / epsilon, err
		}})
	}
	return []panel{p}, nil
}

// groupsPanels are the price and the accuracy of a network whose layers are clipped together
// or separately, with shares of the noise by several rules (McMahan et al. 2018,
// arXiv:1812.06210). A run's price is that of its ledger, read again.
func groupsPanels(shared string) ([]panel, error) {
	if _, err := os.Stat(filepath.Join(shared, "data", "mnist")); err != nil {
		return nil, err
	}
	rules := []struct {
		name string
		rule func(layers int) string
	}{
		{"together", func(int) string { return "whole" }},
		{"by layer, equal shares", func(int) string { return "layers" }},
		{"by layer, shares by size", func(int) string { return "layers:size" }},
		{"by layer, given shares", givenShares},
	}
	price := panel{title: "Noise multiplier 1, 1000 steps, sampling rate 0.01", x: "layers", y: "epsilon of the ledger", log: true, fits: 1}
	accuracy := panel{title: "Digits, two layers, three epochs", x: "epsilon", y: "test accuracy", log: true}
	layers := []float64{1, 2, 4, 8}
	for _, r := range rules {
		price.curves = append(price.curves, curve{r.name, layers, func(opt options, x float64, _ int, dir string) (float64, error) {
			return priceOfRun(opt.d3p, int(x), r.rule(int(x)), dir)
		}})
		accuracy.curves = append(accuracy.curves, curve{r.name, []float64{0.5, 1, 3}, func(opt options, x float64, k int, dir string) (float64, error) {
			task := mnistClassifierTask
			task.config, task.args = "mlp-mnist", []string{"--epochs", "3", "--epsilon", fmt.Sprint(x), "--clip-groups", r.rule(2)}
			return task.measure(opt, k, dir)
		}})
	}
	price.curves = append(price.curves,
		curve{"one Gaussian of the equivalent multiplier", layers, func(opt options, _ float64, _ int, _ string) (float64, error) {
			return priceOf(opt.d3p, "--noise-multiplier", "1", "--sampling-rate", "0.01", "--steps", "1000", "--delta", "1e-5")
		}},
		curve{"ledger without groups: too small", layers, func(opt options, x float64, _ int, dir string) (float64, error) {
			path := filepath.Join(dir, "mechanisms.csv")
			text := "noise_multiplier,sampling_rate,steps\n" + strings.Repeat(fmt.Sprintf("%g,0.01,1000\n", math.Sqrt(x)), int(x))
			if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				return 0, err
			}
			return priceOf(opt.d3p, "--event", path, "--delta", "1e-5")
		}})
	return []panel{price, accuracy}, nil
}

// givenShares are half of the noise's price for the first layer, half of the rest for the
// next, and so on.
func givenShares(layers int) string {
	if layers == 1 {
		return "layers"
	}
	var shares []string
	for j := range layers - 1 {
		shares = append(shares, fmt.Sprintf("net.dense%d@%g", j+1, math.Exp2(-float64(j+1))))
	}
	return strings.Join(shares, ",")
}

// priceOfRun fits a network of dense layers and prices the ledger of the run again.
func priceOfRun(d3p string, layers int, groups, dir string) (float64, error) {
	var t table
	for i := range 1000 {
		t.rows = append(t.rows, []float64{float64(i%7) - 3, float64(i % 2)})
	}
	t.header = []string{"x", "y"}
	r := replicate{train: t, test: t, model: `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: binary, levels: ["0", "1"]}
nets:
  net:
    input: [features]
    layers:
` + strings.Repeat("      - dense: {units: 4, activation: tanh}\n", layers-1) + `      - dense: {units: 1}
core:
  dims: {features: [x]}
  rows:
    observe:
      y: bernoulli(logits=net(columns(features)))
`}
	if err := r.write(dir); err != nil {
		return 0, err
	}
	run := filepath.Join(dir, "run")
	if err := command(d3p, "fit", filepath.Join(dir, "train.csv"), "--model", filepath.Join(dir, "model.yaml"), "--out", run, "--quiet", "--clip-groups", groups,
		"--noise-multiplier", "1", "--steps", "1000", "--sampling-rate", "0.01", "--delta", "1e-5", "--table1", "none", "--accept-risk", "noise-dominates,small-batches"); err != nil {
		return 0, err
	}
	return priceOf(d3p, run)
}

// priceOf is the epsilon that d3p account certifies.
func priceOf(d3p string, args ...string) (float64, error) {
	raw, err := output(d3p, append([]string{"account", "--json"}, args...)...)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Upper float64 `json:"epsilon_upper"`
	}
	return answer.Upper, json.Unmarshal([]byte(raw), &answer)
}
