package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// hlrTask is the hierarchical logistic regression of the d3p paper at N
// records: three groups with public covariates g, coefficients w = M g + U,
// five features, ten data seeds.
type hlrTask struct{ records int }

func (h hlrTask) judge(opt options, reference []threshold, dir string, out *report) error {
	return h.task().judge(opt, reference, dir, out)
}

// task is the fits of its ten data seeds.
func (h hlrTask) task() task {
	return task{name: fmt.Sprintf("hlr_N%d", h.records), delta: 1 / float64(h.records), runs: 10, load: h.load, score: func(r replicate, p []float64, _ map[string]float64) map[string]float64 {
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
