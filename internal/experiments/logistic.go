package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/privacy/noise"
)

// logisticModel is the model file of a logistic regression of y on names unchanged
// (declared bounds wide enough never to clamp, scale one).
func logisticModel(name string, records int, names []string, intercept bool, priorSD float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", name, records)
	for _, n := range names {
		fmt.Fprintf(&b, "    %s: {type: real, lower: -200, upper: 200, scale: {center: 0, by: 1}, source: expert}\n", n)
	}
	b.WriteString("    y: {type: binary, levels: [\"0\", \"1\"]}\n")
	terms := "0"
	if intercept {
		terms = "1"
	}
	fmt.Fprintf(&b, "model:\n  formula: y ~ %s + %s\n  family: bernoulli\n  link: logit\n  priors:\n    b: normal(0, %g)\n", terms, strings.Join(names, " + "), priorSD)
	if intercept {
		fmt.Fprintf(&b, "    Intercept: normal(0, %g)\n", priorSD)
	}
	b.WriteString("privacy:\n  neighbours: add_remove\n")
	return b.String()
}

// numbered returns prefix1..prefixN.
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i+1)
	}
	return out
}

// abaloneTask is the design of the DP-VI paper's code: sex coded I 0, F 1,
// M 2, then the seven measures, all z-scored over all 4177 rows, no intercept,
// y = rings > 9, the first 3341 rows to train, prior N(0, I).
var abaloneTask = task{name: "abalone", delta: 1e-3, runs: 20, load: loadAbalone, score: scoreBinary}

func scoreBinary(r replicate, predicted []float64, _ map[string]float64) map[string]float64 {
	return binaryMetrics(predicted, r.y)
}

func loadAbalone(shared string) ([]replicate, error) {
	_, cells, err := readCells(filepath.Join(shared, "data", "abalone", "abalone.csv"))
	if err != nil {
		return nil, err
	}
	sex := map[string]float64{"I": 0, "F": 1, "M": 2}
	rows := make([][]float64, len(cells))
	for i, cell := range cells {
		row := make([]float64, 9)
		row[0] = sex[cell[0]]
		for j := 1; j < 8; j++ {
			if row[j], err = strconv.ParseFloat(cell[j], 64); err != nil {
				return nil, err
			}
		}
		if rings, err := strconv.ParseFloat(cell[8], 64); err != nil {
			return nil, err
		} else if rings > 9 {
			row[8] = 1
		}
		rows[i] = row
	}
	for j := range 8 {
		standardise(rows, j)
	}
	names := numbered("x", 8)
	const train = 3341
	return []replicate{binaryReplicate("abalone", names, rows, train, false)}, nil
}

// binaryReplicate splits rows (features, then y) after the first train rows.
func binaryReplicate(name string, names []string, rows [][]float64, train int, intercept bool) replicate {
	header := append(slices.Clone(names), "y")
	r := replicate{
		model: logisticModel(name, train, names, intercept, 1),
		train: table{header, rows[:train]},
		test:  table{header, rows[train:]},
	}
	for _, row := range rows[train:] {
		r.y = append(r.y, row[len(names)])
	}
	return r
}

// simlrTask is the Python package's own example (10 000 simulated records, an
// intercept and four features), three data seeds.
var simlrTask = task{name: "simlr10000x4", delta: 1e-8, runs: 9, load: loadSimLR, score: scoreSimLR}

func loadSimLR(shared string) ([]replicate, error) {
	dir := filepath.Join(shared, "reference", "utility", "data")
	var out []replicate
	for seed := range 3 {
		t, err := readTable(filepath.Join(dir, fmt.Sprintf("simlr_seed%d.csv.gz", seed)))
		if err != nil {
			return nil, err
		}
		var ordered [][]float64 // train rows first; columns x1..x4, y
		train := 0
		for _, held := range []float64{0, 1} {
			for _, row := range t.rows {
				if row[0] == held {
					ordered = append(ordered, append(slices.Clone(row[2:]), row[1]))
				}
			}
			if held == 0 {
				train = len(ordered)
			}
		}
		r := binaryReplicate("simlr", numbered("x", 4), ordered, train, true)
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("simlr_seed%d_truth.json", seed)))
		if err != nil {
			return nil, err
		}
		var truth struct {
			W []float64 `json:"w_true"`
		}
		if err := json.Unmarshal(raw, &truth); err != nil {
			return nil, err
		}
		r.truth = truth.W
		out = append(out, r)
	}
	return out, nil
}

// scoreSimLR adds the root mean squared error of the posterior means.
func scoreSimLR(r replicate, predicted []float64, params map[string]float64) map[string]float64 {
	metrics := binaryMetrics(predicted, r.y)
	w := []float64{params["Intercept"]}
	for _, name := range numbered("x", 4) {
		w = append(w, params["b["+name+"]"])
	}
	metrics["rmse"] = rmse(w, r.truth)
	return metrics
}

// drawLogistic is table k of n records of a logistic regression without intercept, with columns
// drawn alike.
func drawLogistic(name string, n, k int, truth []float64, column func(*noise.Random) float64) replicate {
	names := numbered("x", len(truth))
	rng := noise.NewRandom(noise.Public(uint64(1000*n + k)).Stream(noise.Simulation))
	t := table{header: append(slices.Clone(names), "y")}
	for range n {
		row, eta := make([]float64, len(truth)+1), 0.0
		for j, w := range truth {
			row[j] = column(rng)
			eta += w * row[j]
		}
		row[len(truth)] = indicator(rng.Uniform() < 1/(1+math.Exp(-eta)))
		t.rows = append(t.rows, row)
	}
	return replicate{model: logisticModel(name, n, names, false, 1), train: t, test: t, truth: truth}
}

// coefficients are the posterior means of a fit of r, made in the folder dir.
func (r replicate) coefficients(opt options, names []string, epsilon float64, args []string, dir string) (w []float64, err error) {
	if err := r.write(dir); err != nil {
		return nil, err
	}
	run := filepath.Join(dir, "run")
	all := append([]string{"fit", "--epsilon", fmt.Sprint(epsilon), "--quiet", "--formats", "csv", "--model", filepath.Join(dir, "model.yaml"), "--out", run}, args...)
	if err := command(opt.d3p, append(all, filepath.Join(dir, "train.csv"))...); err != nil {
		return nil, err
	}
	means, err := readSummary(filepath.Join(run, "release", "summary.csv"))
	for _, name := range names {
		w = append(w, means["b["+name+"]"])
	}
	return w, err
}

// rightSigns is the share of numbers that have the sign of the true one.
func rightSigns(w, truth []float64) float64 {
	right := 0.0
	for j := range w {
		right += indicator(w[j]*truth[j] > 0) / float64(len(truth))
	}
	return right
}
