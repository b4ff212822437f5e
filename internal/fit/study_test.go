package fit_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/models/spec"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// study is a simulated logistic regression with its model, its file and its
// exact posterior mode.
type study struct {
	model *models.Model
	data  string
	mode  []float64
	sd    []float64 // of the Laplace approximation
}

const studyModel = `d3p: 1
name: study
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    u: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
    v: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u + v
  family: bernoulli
  link: logit
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
privacy:
  neighbours: add_remove
`

// ofPrior is a study of n records that m draws from its prior, and the drawn parameters (P).
func ofPrior(t *testing.T, m *models.Model, n int, seed uint64) (*study, []float64) {
	t.Helper()
	table, truth := simulate.Prior(m, n, noise.NewRandom(noise.Public(seed).Stream(noise.Simulation)))
	return &study{model: m, data: writeTable(t, table)}, truth
}

// fitted is the posterior of a fit by p, whose noise has a seed.
func (s *study) fitted(t *testing.T, p *plan.Plan, seed uint64) *posterior.Posterior {
	t.Helper()
	result, err := fit.Run(context.Background(), p, s.curator(t, p, seed, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Posterior
}

// newStudy draws n records with coefficients (0.5, -1, 1).
func newStudy(t testing.TB, n int) *study {
	t.Helper()
	parsed, errs := spec.Parse("study.yaml", fmt.Appendf(nil, studyModel, n), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	model, err := models.Compile(parsed)
	if err != nil {
		t.Fatal(err)
	}
	s := &study{model: model, data: filepath.Join(t.TempDir(), "study.csv")}
	rng := noise.Insecure(1).Stream(noise.Initialisation)
	text := strings.Builder{}
	text.WriteString("u,v,y\n")
	var x [][]float64
	var y []float64
	for range n {
		z := make([]float64, 2)
		rng.Normals(z)
		row := []float64{1, math.Round(1e3*z[0]) / 1e3, math.Round(1e3*z[1]) / 1e3}
		outcome := 0.0
		if rng.Float64() < 1/(1+math.Exp(-(0.5-row[1]+row[2]))) {
			outcome = 1
		}
		fmt.Fprintf(&text, "%g,%g,%g\n", row[1], row[2], outcome)
		x, y = append(x, row), append(y, outcome)
	}
	if err := os.WriteFile(s.data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mode, s.sd = laplace(x, y)
	return s
}

// laplace returns mode and marginal sds of the logistic posterior with standard
// normal priors on three coefficients, by Newton's method.
func laplace(x [][]float64, y []float64) (mode, sd []float64) {
	mode = make([]float64, 3)
	var inverse [3][3]float64
	for range 30 {
		var h [3][3]float64
		g := [3]float64{}
		for j := range 3 {
			h[j][j] = 1
			g[j] = -mode[j]
		}
		for i, row := range x {
			p := 1 / (1 + math.Exp(-(row[0]*mode[0] + row[1]*mode[1] + row[2]*mode[2])))
			for j := range 3 {
				g[j] += (y[i] - p) * row[j]
				for k := range 3 {
					h[j][k] += p * (1 - p) * row[j] * row[k]
				}
			}
		}
		inverse = invert3(h)
		for j := range 3 {
			for k := range 3 {
				mode[j] += inverse[j][k] * g[k]
			}
		}
	}
	for j := range 3 {
		sd = append(sd, math.Sqrt(inverse[j][j]))
	}
	return mode, sd
}

func invert3(a [3][3]float64) (inv [3][3]float64) {
	cof := func(i, j int) float64 {
		r, c := [2]int{(i + 1) % 3, (i + 2) % 3}, [2]int{(j + 1) % 3, (j + 2) % 3}
		return a[r[0]][c[0]]*a[r[1]][c[1]] - a[r[0]][c[1]]*a[r[1]][c[0]]
	}
	det := a[0][0]*cof(0, 0) + a[0][1]*cof(0, 1) + a[0][2]*cof(0, 2)
	for i := range 3 {
		for j := range 3 {
			inv[j][i] = cof(i, j) / det
		}
	}
	return inv
}

// withTable1 is the plan of a fit that buys Table 1, and the result.
func (s *study) withTable1(t *testing.T, cfg plan.Config) (*plan.Plan, fit.Result) {
	t.Helper()
	cfg.Table1 = settings.Auto
	p := s.plan(t, cfg)
	c := s.curator(t, p, 1, privacy.Ledger{})
	c.Columns(privacy.NewColumns(privacy.TableConfig{Data: s.data, Encoding: s.model.Encoding, Root: noise.Insecure(1)}))
	if err := fit.Buy(p, c, nil); err != nil {
		t.Fatal(err)
	}
	result, err := fit.Run(context.Background(), p, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, result
}

// endsWith checks that the purchase is the last entry of the ledger, and that a fit whose release is still to be written asks
// nothing again. It returns the plan of that one.
func (s *study) endsWith(t *testing.T, purpose string, p *plan.Plan, result fit.Result) *plan.Plan {
	t.Helper()
	entries, after := result.Spent.Entries, p.After()
	if last := entries[len(entries)-1]; last.Purpose != purpose || !event.Equal(last.Event, after[len(after)-1]) {
		t.Fatalf("the ledger ends with %v", last)
	}
	checkpoint, err := result.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	again, err := fit.Resume(context.Background(), checkpoint, s.model, s.curator(t, p, 2, result.Spent), nil)
	if err != nil || len(again.Spent.Entries) != len(entries) {
		t.Fatalf("a resumed fit spent %v: %v", again.Spent.Entries, err)
	}
	return again.Posterior.Plan
}

func (s *study) plan(t testing.TB, cfg plan.Config) *plan.Plan {
	t.Helper()
	return fittest.Plan(t, s.model, cfg)
}

// curator opens the study's records with noise that is a function of seed.
func (s *study) curator(t testing.TB, p *plan.Plan, seed uint64, spent privacy.Ledger) *privacy.Curator {
	t.Helper()
	return s.curatorOf(t, p, seed, spent, cpu.New(cpu.Options{Threads: 1}))
}

// curatorOf is curator with an engine.
func (s *study) curatorOf(t testing.TB, p *plan.Plan, seed uint64, spent privacy.Ledger, engine privacy.Engine) *privacy.Curator {
	t.Helper()
	return fittest.Curator(t, p, privacy.CuratorConfig{
		Table:  privacy.NewTable(privacy.TableConfig{Data: s.data, Encoding: s.model.Encoding, Root: noise.Insecure(seed)}),
		Engine: engine,
		Root:   noise.Insecure(seed), Spent: spent,
	})
}
