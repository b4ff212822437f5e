package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"d3p/internal/report/figure"
)

// hlrTask is the hierarchical logistic regression of the d3p paper at N
// records: three groups with public covariates g, coefficients w = M g + U,
// five features, ten data seeds.
type hlrTask struct{ records int }

// task is the fits of its ten data seeds, three for each where records are few: the noise of
// ten fits moves their mean by .016 (N = 100, epsilon 1) and .008 (N = 200), against thresholds
// that allow for .01.
func (h hlrTask) task() task {
	runs := 10
	if h.records <= 200 {
		runs = 30
	}
	return task{name: fmt.Sprintf("hlr_N%d", h.records), delta: 1 / float64(h.records), runs: runs, load: h.load, score: func(r replicate, p []float64, _ map[string]float64) map[string]float64 {
		return map[string]float64{"mean test AUC over the 10 exported seeds": auc(p, r.y)}
	}}
}

func (h hlrTask) load(shared string) ([]replicate, error) {
	dir := filepath.Join(shared, "reference", "utility", "data")
	rows, err := readTable(filepath.Join(dir, fmt.Sprintf("hlr_N%d.csv.gz", h.records)))
	if err != nil {
		return nil, err
	}
	groups, err := readTable(filepath.Join(dir, fmt.Sprintf("hlr_N%d_groups.csv.gz", h.records)))
	if err != nil {
		return nil, err
	}
	out := make([]replicate, 10)
	for seed := range out {
		r := &out[seed]
		r.model = hlrModel(h.records)
		r.train.header = []string{"group", "y", "x0", "x1", "x2", "x3", "x4"}
		r.test.header = r.train.header
		r.public = table{header: []string{"group", "g0", "g1", "g2"}}
		for _, g := range groups.rows {
			if int(g[0]) == seed {
				r.public.rows = append(r.public.rows, g[1:])
			}
		}
		for _, row := range rows.rows {
			switch {
			case int(row[0]) != seed:
			case row[1] == 1:
				r.test.rows = append(r.test.rows, row[2:])
				r.y = append(r.y, row[3])
			default:
				r.train.rows = append(r.train.rows, row[2:])
			}
		}
	}
	return out, nil
}

// hlrModel is the model in core blocks; M has the paper's prior.
func hlrModel(records int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: hlr\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", records)
	for j := range 5 {
		fmt.Fprintf(&b, "    x%d: {type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}, source: expert}\n", j)
	}
	b.WriteString(`    group: {type: category, levels: ["0", "1", "2"]}
    y: {type: binary, levels: ["0", "1"]}
  tables:
    groups:
      file: public.csv
      public: true
      key: group
      columns:
        g0: {type: real, scale: {center: 0, by: 1}}
        g1: {type: real, scale: {center: 0, by: 1}}
        g2: {type: real, scale: {center: 0, by: 1}}
core:
  dims:
    coef: [x0, x1, x2, x3, x4]
    cov: [g0, g1, g2]
    group: levels(group)
  params:
    M: normal(0, 4) [coef, cov]
    U: normal(0, 1) [group, coef]
  let:
    w: columns(cov) @ transpose(M) + U
  rows:
    let:
      eta: columns(coef) @ w[group]
    observe:
      y: bernoulli(logits=eta)
privacy:
  neighbours: add_remove
`)
	return b.String()
}

// hierarchicalPanels are the AUC of the hierarchical logistic regression (Prediger et al.
// 2022, figures 4 and 5) against epsilon, by number of records.
func hierarchicalPanels(shared string) (list []panel, err error) {
	const metric = "mean test AUC over the 10 exported seeds"
	for _, n := range []int{100, 200, 500, 1000} {
		t := hlrTask{n}.task()
		reference, err := fromReference(t.name, metric)
		if err != nil {
			return nil, err
		}
		list = append(list, panel{title: fmt.Sprintf("Hierarchical logistic regression, N = %d", n), x: "epsilon", y: "AUC on held-out records", log: true,
			curves: t.byEpsilon(shared, metric, []float64{1, 2, 4, 8}), published: []figure.Series{reference}})
	}
	return list, nil
}

// iterationPanels are the AUC of the hierarchical logistic regression against the number of
// steps (Prediger et al. 2022, figure 6), all at the price of their epsilon.
func iterationPanels(shared string) (list []panel, err error) {
	const metric = "mean test AUC over the 10 exported seeds"
	steps := []float64{100, 300, 1000, 3000, 10000}
	t := hlrTask{500}.task()
	for _, epsilon := range []float64{1, 4} {
		fixed := func(float64) float64 { return epsilon }
		of := func(more ...string) func(options, float64, int, string) (float64, error) {
			return t.shipped(shared, metric, func(x float64) []string { return append([]string{"--steps", fmt.Sprint(x)}, more...) }, fixed)
		}
		list = append(list, panel{title: fmt.Sprintf("Hierarchical logistic regression, N = 500, epsilon %g", epsilon), x: "steps", y: "AUC on held-out records", log: true, curves: []curve{
			{"d3p, defaults", steps, of()},
			{"algorithm of the Python package (--compat d3p)", steps, of("--compat", "d3p")},
		}})
	}
	return list, nil
}
