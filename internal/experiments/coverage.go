package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// coverageTask draws tables from a model's own prior with `d3p simulate`, fits
// them, and counts how many intervals of 90 % hold the parameters that made the
// table: of exact posteriors nine in ten do. Each table is fitted by the defaults
// and by what a user of other tools would run at the same epsilon and delta.
type coverageTask struct{}

// coverageModels are formulas with the data types they need.
var coverageModels = []struct{ name, response, family, formula, more string }{
	{"logistic", `{type: binary, levels: ["0", "1"]}`, "bernoulli", "y ~ 1 + u1 + u2 + u3 + u4", ""},
	{"poisson", "{type: integer, lower: 0, upper: 200}", "poisson", "y ~ 1 + u1 + u2 + u3 + u4", ""},
	{"groups", `{type: binary, levels: ["0", "1"]}`, "bernoulli", "y ~ 1 + u1 + u2 + (1 | site)", "    sd: half_normal(0.7)\n"},
}

// coverageFits are the ways to fit: ours, and under the relation that the Python
// package accounts for ours beside its algorithm; last a point estimate by private
// Adam, flat clipping at 1.
var coverageFits = []struct {
	name  string
	point bool // states no uncertainty
	flags []string
}{
	{"default", false, nil},
	{"default, substitution", false, []string{"--adjacency", "substitute"}},
	{"Python d3p, substitution", false, []string{"--adjacency", "substitute", "--compat", "d3p"}},
	{"private Adam, a point", true, []string{"--guide", "delta", "--clipping", "flat", "--clip-norm", "1", "--averaging", "0"}},
}

// coverageRecords are the numbers of records of the tables.
var coverageRecords = []int{200, 1000, 5000}

func (coverageTask) judge(opt options, _ []threshold, dir string, out *report) error {
	epsilons := "0.3,1,4"
	if opt.epsilons != "" {
		epsilons = opt.epsilons
	}
	runs := 20
	if opt.runs > 0 {
		runs = opt.runs
	}
	for _, m := range coverageModels {
		for _, epsilon := range strings.Split(epsilons, ",") {
			for _, n := range coverageRecords {
				folder := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", m.name, epsilon, n))
				if err := os.MkdirAll(folder, 0o755); err != nil {
					return err
				}
				model := coverageModel(m.name, m.response, m.family, m.formula, m.more, n)
				if err := os.WriteFile(filepath.Join(folder, "model.yaml"), []byte(model), 0o644); err != nil {
					return err
				}
				scores, err := coverageScores(opt.d3p, folder, epsilon, n, runs)
				if err != nil {
					return err
				}
				for i, f := range coverageFits {
					for _, parameter := range []string{"Intercept", "b", "sd_site", "z_site"} {
						if s := scores[i][parameter]; s != nil {
							out.note(m.name, epsilon, fmt.Sprintf("N %d, %s of %s: %s", n, parameter, f.name, s.words(f.point)))
						}
					}
				}
			}
		}
	}
	return nil
}

func coverageModel(name, response, family, formula, more string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", name, n)
	for _, u := range numbered("u", 4) {
		fmt.Fprintf(&b, "    %s: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}\n", u)
	}
	sd := 1.0
	if family == "poisson" {
		sd = 0.3
	}
	fmt.Fprintf(&b, "    site: {type: category, levels: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}\n    y: %s\n", response)
	fmt.Fprintf(&b, "model:\n  formula: %s\n  family: %s\n  priors:\n    Intercept: normal(0, 1)\n    b: normal(0, %g)\n%s", formula, family, sd, more)
	return b.String()
}

// coverageScores fits runs tables in every way, and scores each by parameter.
func coverageScores(d3p, folder, epsilon string, n, runs int) ([]map[string]*intervals, error) {
	scores := make([]map[string]*intervals, len(coverageFits))
	model, data, run := filepath.Join(folder, "model.yaml"), filepath.Join(folder, "table.csv"), filepath.Join(folder, "run")
	for k := range runs {
		raw, err := exec.Command(d3p, "simulate", model, "-n", strconv.Itoa(n), "--seed", strconv.Itoa(100+k), "--out", data, "--json").Output()
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		var simulated struct {
			Parameters map[string]float64 `json:"parameters"`
		}
		if err := json.Unmarshal(raw, &simulated); err != nil {
			return nil, err
		}
		for i, f := range coverageFits {
			args := append([]string{"fit", "--epsilon", epsilon, "--quiet", "--model", model, "--out", run, "--draws", "2000",
				"--init-seed", strconv.Itoa(k), data}, f.flags...)
			if err := command(d3p, args...); err != nil {
				return nil, err
			}
			if scores[i] == nil {
				scores[i] = map[string]*intervals{}
			}
			if err := addIntervals(scores[i], filepath.Join(run, "release", "summary.csv"), simulated.Parameters); err != nil {
				return nil, err
			}
			os.RemoveAll(run)
		}
	}
	return scores, nil
}

// intervals counts those that hold the truth, and adds up squared errors and log
// scores of a normal with the posterior's mean and standard deviation.
type intervals struct {
	n, held      int
	square, logs float64
}

// words say it; of a point only the error.
func (s *intervals) words(point bool) string {
	n := float64(s.n)
	root := fmt.Sprintf("root mean squared error %.3f", math.Sqrt(s.square/n))
	if point {
		return root
	}
	return fmt.Sprintf("%.0f %% hold, log score %.2f, %s", 100*float64(s.held)/n, s.logs/n, root)
}

// addIntervals compares a summary with the parameters that made the table.
func addIntervals(scores map[string]*intervals, summary string, truth map[string]float64) error {
	header, cells, err := readCells(summary)
	if err != nil {
		return err
	}
	at, err := index(header, "variable", "mean", "sd", "q5", "q95")
	if err != nil {
		return err
	}
	for _, row := range cells {
		want, ok := truth[row[at[0]]]
		if !ok {
			continue
		}
		var x [4]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[at[i+1]], 64); err != nil {
				return err
			}
		}
		name, _, _ := strings.Cut(row[at[0]], "[")
		s := scores[name]
		if s == nil {
			s = &intervals{}
			scores[name] = s
		}
		s.n++
		if x[2] <= want && want <= x[3] {
			s.held++
		}
		s.square += (x[0] - want) * (x[0] - want)
		s.logs -= (x[0]-want)*(x[0]-want)/(2*x[1]*x[1]) + math.Log(x[1])
	}
	return nil
}
