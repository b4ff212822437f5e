package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"d3p/internal/cpu"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/rehearsal"
)

// setup is a model that draws tables and fits them, and the size and price of a fit.
type setup struct {
	name    string
	model   *models.Model
	records int
	epsilon float64
}

func (s setup) label() string        { return fmt.Sprintf("%s N %d", s.name, s.records) }
func (s setup) epsilonLabel() string { return strconv.FormatFloat(s.epsilon, 'g', -1, 64) }

// regressions are formulas with the data types and the priors they need.
var regressions = []struct {
	name, response, family, formula string
	prior                           float64 // standard deviation of coefficients
	more                            string
}{
	{"logistic", `{type: binary, levels: ["0", "1"]}`, "bernoulli", "y ~ 1 + u1 + u2 + u3 + u4", 1, ""},
	{"poisson", "{type: integer, lower: 0, upper: 200}", "poisson", "y ~ 1 + u1 + u2 + u3 + u4", 0.3, ""},
	{"linear", "{type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}}", "normal", "y ~ 1 + u1 + u2 + u3 + u4", 1, "    sigma: half_normal(1)\n"},
	{"groups", `{type: binary, levels: ["0", "1"]}`, "bernoulli", "y ~ 1 + u1 + u2 + (1 | site)", 1, "    sd: half_normal(0.7)\n"},
}

// regressionSetups are the regressions by number of records and epsilon.
func regressionSetups(opt options) ([]setup, error) {
	epsilons, err := numbers(opt.epsilons, "0.3,1,4")
	if err != nil {
		return nil, err
	}
	records, err := numbers(opt.records, "200,1000,5000")
	if err != nil {
		return nil, err
	}
	var list []setup
	for i, r := range regressions {
		if !asked(opt.models, r.name) {
			continue
		}
		for _, n := range records {
			m, err := models.Read(r.name, []byte(regressionModel(i, int(n))), nil)
			if err != nil {
				return nil, err
			}
			for _, e := range epsilons {
				list = append(list, setup{name: r.name, model: m, records: int(n), epsilon: e})
			}
		}
	}
	return list, nil
}

// regressionModel is the file of regression i.
func regressionModel(i, records int) string {
	r := regressions[i]
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", r.name, records)
	for _, u := range numbered("u", 4) {
		fmt.Fprintf(&b, "    %s: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}\n", u)
	}
	fmt.Fprintf(&b, "    site: {type: category, levels: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}\n    y: %s\n", r.response)
	fmt.Fprintf(&b, "model:\n  formula: %s\n  family: %s\n  priors:\n    Intercept: normal(0, 1)\n    b: normal(0, %g)\n%s",
		r.formula, r.family, r.prior, r.more)
	return b.String()
}

// cohortSetups is datasets/cohort.yaml, by epsilon.
func cohortSetups(opt options) ([]setup, error) {
	epsilons, err := numbers(opt.epsilons, "1")
	if err != nil {
		return nil, err
	}
	path := filepath.Join("datasets", "cohort.yaml")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := models.Read(path, raw, nil)
	if err != nil {
		return nil, err
	}
	var list []setup
	for _, e := range epsilons {
		list = append(list, setup{name: "cohort", model: m, records: m.Spec.Data.Rows.N(), epsilon: e})
	}
	return list, nil
}

// run draws, fits and scores `tables` tables, one per processor at a time.
func (s setup) run(config plan.Config, tables int, dir string) ([]tableScores, error) {
	config.Epsilon, config.Records = s.epsilon, s.records
	plan, err := plan.New(s.model, config)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	fits := rehearsal.Rehearsal{Plan: plan, Drawn: s.model, Folder: dir, Engine: func() privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }}
	out := make([]tableScores, tables)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k := range tables {
		group.Go(func() error {
			post, truth, err := fits.Fit(context.Background(), k)
			if err == nil {
				out[k] = scoreTable(s.model, post, truth)
			}
			return err
		})
	}
	return out, group.Wait()
}
