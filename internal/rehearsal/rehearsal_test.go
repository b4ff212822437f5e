package rehearsal

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

const logistic = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1500}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: binary}
model:
  formula: y ~ x
  family: bernoulli
  priors: {Intercept: "normal(0, 1)", b: "normal(0, 1)"}
`

// rehearsed rehearses a fit of the model at epsilon 1 with Table 1.
func rehearsed(t *testing.T, drawn *models.Model, tables int) []Row {
	t.Helper()
	m := modelstest.Compile(t, "m.yaml", logistic)
	p, err := plan.New(m, plan.Config{Epsilon: 1, Table1: settings.Table1Default})
	if err != nil {
		t.Fatal(err)
	}
	if drawn == nil {
		drawn = m
	}
	folder := t.TempDir()
	rows, err := Rehearsal{Plan: p, Drawn: drawn, Folder: folder, Engine: func() privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }}.Run(context.Background(), tables)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the folder keeps %v, %v", left, err)
	}
	return rows
}

// About nine in ten intervals hold the truth, and they are narrower than the prior's; few
// hold it where tables come from effects ten times as large as the prior says.
func TestRehearsal(t *testing.T) {
	const tables = 12
	rows := rehearsed(t, nil, tables)
	if len(rows) != 2 || rows[0].Parameter != "Intercept" || rows[1].Parameter != "b" {
		t.Fatalf("rows %+v", rows)
	}
	for _, r := range rows {
		// the seeds are fixed; P(less than 8 of 12 hold) = 4e-3 of exact intervals
		if r.Intervals != tables || r.Hold < 8./tables || !(r.Width > 0.02 && r.Width < 0.5) || math.Abs(r.Hold*tables-math.Round(r.Hold*tables)) > 1e-9 {
			t.Errorf("%+v", r)
		}
	}
	elsewhere := modelstest.Compile(t, "m.yaml", strings.Replace(logistic, `b: "normal(0, 1)"`, `b: "normal(30, 1)"`, 1))
	if r := rehearsed(t, elsewhere, 3)[1]; r.Hold != 0 {
		t.Errorf("of effects beyond the prior: %+v", r)
	}
}

// compare counts intervals by parameter, and widths in those of the prior.
func TestCompare(t *testing.T) {
	interval := func(name string, low, high float64) outputs.Summary {
		return outputs.Summary{Variable: name, Q5: low, Q95: high}
	}
	prior := []outputs.Summary{interval("a", -2, 2), interval("b[1]", 0, 10), interval("b[2]", 0, 10)}
	one := []outputs.Summary{interval("a", -1, 1), interval("b[1]", 1, 2), interval("b[2]", 1, 4)}
	got := compare([][]outputs.Summary{one, one}, []map[string]float64{
		{"a": 0, "b[1]": 1.5, "b[2]": 5}, {"a": -3, "b[1]": 0, "b[2]": 5},
	}, prior)
	want := []Row{{"a", 2, 0.5, math.Sqrt(0.25 / 2), 0.5}, {"b", 4, 0.25, 0.25, 0.2}}
	if len(got) != 2 {
		t.Fatal(got)
	}
	for i := range got {
		if got[i].Parameter != want[i].Parameter || got[i].Intervals != want[i].Intervals || got[i].Hold != want[i].Hold ||
			math.Abs(got[i].Width-want[i].Width) > 1e-12 || got[i].HoldSE < want[i].HoldSE-1e-12 {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}
