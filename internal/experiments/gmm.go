package main

import (
	"fmt"
	"math"
	"path/filepath"
)

// gmmTask is the five-component mixture of the DP-VI paper. Its score is the log density of
// held-out points under the posterior predictive, the mean over posterior draws of the
// mixture's density. The reference scored 5000 other points, whose mean log density under
// the true parameters is gmmReferenceTruth; here it is -3.6585, for test_large.csv. The
// difference is added, so that both scores are distances from the same truth.
var gmmTask = task{name: "gmm", delta: 1e-3, runs: 16, load: loadGMM, fitArgs: []string{"--formats", "csv"}, drawn: scoreGMM}

const (
	gmmComponents     = 5
	gmmReferenceTruth = -3.651
	gmmVariance       = 0.5 // of the true components, whose weights are equal
)

// gmmMeans are the means of the true components.
var gmmMeans = [gmmComponents][2]float64{{0, 0}, {2, 2}, {-2, -2}, {-2, 2}, {2, -2}}

func loadGMM(shared string) ([]replicate, error) {
	dir := filepath.Join(shared, "data", "gmm-dpvi")
	points := func(name string, most int) (table, error) {
		t, err := readTable(filepath.Join(dir, name))
		if err != nil {
			return table{}, err
		}
		out := table{header: []string{"x1", "x2"}}
		for _, row := range t.rows[:min(most, len(t.rows))] {
			out.rows = append(out.rows, row[:2])
		}
		return out, nil
	}
	train, err := points("train.csv", 2000)
	if err != nil {
		return nil, err
	}
	test, err := points("test_large.csv", 10000)
	return []replicate{{model: gmmModel, train: train, test: test}}, err
}

// gmmModel has the priors of the reference: uniform weights, standard normal
// means, inverse-gamma(1, 1) standard deviations, one per component.
const gmmModel = `d3p: 1
name: gmm
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    x1: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
    x2: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
core:
  dims:
    k: 5
    d: [x1, x2]
  params:
    pis: dirichlet(1) [k]
    mus: normal(0, 1) [k, d]
    sigs: inverse_gamma(1, 1) [k]
  rows:
    observe:
      d: mixture(pis, normal(mus, sigs), over=k)
guide: {type: mean_field, init: prior}
privacy:
  neighbours: add_remove
`

// scoreGMM reads the draws of a run and scores the replicate's test points.
func scoreGMM(r replicate, run string) (map[string]float64, error) {
	draws, err := readTable(filepath.Join(run, "release", "draws.csv"))
	if err != nil {
		return nil, err
	}
	at, err := index(draws.header, mixtureNames()...)
	if err != nil {
		return nil, err
	}
	picked := make([][]float64, mixtureScored)
	for i := range picked {
		for _, j := range at {
			picked[i] = append(picked[i], draws.rows[i][j])
		}
	}
	return map[string]float64{"tll": mixtureDensity(r.test.rows, picked)}, nil
}

// mixtureScored is the number of draws that are scored, as in the reference.
const mixtureScored = 100

// mixtureNames are the numbers of a draw that mixtureDensity takes, in order.
func mixtureNames() (names []string) {
	for k := 1; k <= gmmComponents; k++ {
		names = append(names, fmt.Sprintf("pis[%d]", k), fmt.Sprintf("mus[%d,x1]", k), fmt.Sprintf("mus[%d,x2]", k), fmt.Sprintf("sigs[%d]", k))
	}
	return names
}

// mixtureDensity is the mean log density of points under the mean of the draws' mixtures, as a
// distance from the truth beside the truth of the reference's points.
func mixtureDensity(points, draws [][]float64) float64 {
	var total, truth float64
	for _, x := range points {
		var known float64
		for _, m := range gmmMeans {
			u, v := x[0]-m[0], x[1]-m[1]
			known += math.Exp(-(u*u+v*v)/2/gmmVariance) / (2 * math.Pi * gmmVariance * gmmComponents)
		}
		truth += math.Log(known)
		var density float64
		for _, draw := range draws {
			for k := range gmmComponents {
				weight, m1, m2, sd := draw[4*k], draw[4*k+1], draw[4*k+2], draw[4*k+3]
				u, v := (x[0]-m1)/sd, (x[1]-m2)/sd
				density += weight * math.Exp(-(u*u+v*v)/2) / (2 * math.Pi * sd * sd)
			}
		}
		total += math.Log(math.Max(density/float64(len(draws)), 1e-300))
	}
	return (total-truth)/float64(len(points)) + gmmReferenceTruth
}
