package models_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/spec"
)

// golden is a file of testdata/golden, cut by trim.py from vectors that two
// independent implementations agree on to 1e-14.
type golden struct {
	Model string      `json:"model"`
	X     [][]float64 `json:"X"`
	Y     []float64   `json:"y"`
	Group []int       `json:"group"`
	Cases []struct {
		Theta        []float64   `json:"theta"`
		LogLik       []float64   `json:"loglik"`
		Grad         [][]float64 `json:"grad"`
		LogPrior     float64     `json:"logprior"`
		GradLogPrior []float64   `json:"grad_logprior"`
		Step         struct {
			M    []float64 `json:"m"`
			LogS []float64 `json:"log_s"`
			Eta  []float64 `json:"eta"`
		} `json:"step"`
		Vanilla [][]float64 `json:"vanilla"` // per example, with respect to (m, log s)
	} `json:"cases"`
}

func readGolden(t *testing.T, name string) golden {
	t.Helper()
	src, err := os.ReadFile("testdata/golden/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(src, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// dataBlock declares real columns x1..xD at scale one, and more lines.
func dataBlock(d int, more ...string) string {
	lines := []string{"d3p: 1", "data:", "  unit: {entity: record, rows_per_unit: 1}", "  rows: {public: 100}", "  columns:"}
	for i := range d {
		lines = append(lines, fmt.Sprintf("    x%d: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}", i+1))
	}
	for _, m := range more {
		lines = append(lines, "    "+m)
	}
	return strings.Join(lines, "\n") + "\n"
}

func compile(t *testing.T, src string) *models.Model {
	t.Helper()
	s, errs := spec.Parse("test.yaml", []byte(src), func(string) ([]byte, error) {
		return os.ReadFile("testdata/golden/groups.csv")
	})
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs, src)
	}
	m, err := models.Compile(s)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return m
}

// encode lays out records in the order of the model's encoding; column returns
// the raw value of a column in a record.
func encode(m *models.Model, n int, column func(name string, i int) float64) []float64 {
	rows := make([]float64, n*m.Encoding.K)
	for i := range n {
		m.Encoding.Encode(rows[i*m.Encoding.K:(i+1)*m.Encoding.K], func(header string) float64 { return column(header, i) })
	}
	return rows
}

// TestGolden compares log densities and gradients, of records and of the
// prior, with the golden vectors: |a - b| <= 1e-9 max(1, max|b|).
func TestGolden(t *testing.T) {
	for _, name := range goldenNames {
		t.Run(name, func(t *testing.T) {
			g := readGolden(t, name)
			m := compile(t, goldenModel(name, g))
			rows := encode(m, len(g.X), g.column)
			likelihood := graph.NewMachine(m.Likelihood, len(g.X))
			prior := graph.NewMachine(m.Prior, 1)
			for _, c := range g.Cases {
				if m.P != len(c.Theta) {
					t.Fatalf("P = %d, want %d", m.P, len(c.Theta))
				}
				likelihood.Globals(c.Theta, nil)
				likelihood.Records(rows, m.Encoding.K, len(g.X), nil)
				compare(t, "log likelihood", likelihood.Loss(), c.LogLik)
				got := make([]float64, m.P)
				for i := range g.X {
					likelihood.Gradient(i, got)
					compare(t, "gradient", got, c.Grad[i])
				}
				prior.Globals(c.Theta, nil)
				compare(t, "log prior", prior.Loss(), []float64{c.LogPrior})
				prior.GlobalGradient(got)
				compare(t, "prior gradient", got, c.GradLogPrior)
			}
		})
	}
}

// column is the raw value of a column of the golden data.
func (g golden) column(name string, i int) float64 {
	var j int
	switch {
	case name == "y":
		return g.Y[i]
	case name == "group":
		return float64(g.Group[i])
	case g.Model == "logistic_regression":
		fmt.Sscanf(name, "x%d", &j) // the first column of X is the intercept
		return g.X[i][j]
	}
	fmt.Sscanf(name, "x%d", &j)
	return g.X[i][j-1]
}

// goldenNames lists the golden files.
var goldenNames = []string{"lr_prior1", "gmm_var_10_1", "gmm_sd_2_10", "hlr"}

// goldenModel is the model file of a golden file.
func goldenModel(name string, g golden) string {
	mixture := func(mean, prior, sd string) string {
		return dataBlock(2) + `core:
  dims:
    k: 3
    d: [x1, x2]
  params:
    pis: dirichlet(1) [k]
    mus: ` + mean + ` [k, d]
    ` + prior + ` [k]
  rows:
    observe:
      d: mixture(pis, normal(mus, ` + sd + `), over=k)
`
	}
	switch name {
	case "hlr":
		return dataBlock(2, "y: {type: binary}", "group: {type: category, levels: [a, b, c]}") + `  tables:
    groups:
      file: groups.csv
      public: true
      key: group
      columns:
        g1: {type: real}
        g2: {type: real}
core:
  dims:
    x: [x1, x2]
    g: [g1, g2]
    group: levels(group)
  params:
    M: normal(0, 4) [x, g]
    U: normal(0, 1) [group, x]
  let:
    w: columns(g) @ transpose(M) + U
  rows:
    observe:
      y: bernoulli(logits=columns(x) @ w[group])
`
	case "gmm_var_10_1":
		return mixture("normal(0, 1)", "variance: inverse_gamma(10, 0.1)", "sqrt(variance)")
	case "gmm_sd_2_10":
		return mixture("normal(0, 10)", "sd: inverse_gamma(2, 0.5)", "sd")
	}
	return dataBlock(len(g.X[0])-1, "y: {type: binary}") + `model:
  formula: y ~ 1 + x1 + x2
  family: bernoulli
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
`
}

// TestVanillaGolden compares the gradient of the vanilla ELBO, guide and prior
// inside, with the golden per-example gradients with respect to (m, log s).
func TestVanillaGolden(t *testing.T) {
	for _, name := range goldenNames {
		t.Run(name, func(t *testing.T) {
			g := readGolden(t, name)
			m := compile(t, goldenModel(name, g))
			n := len(g.X)
			tape, err := m.VanillaTape(float64(n))
			if err != nil {
				t.Fatal(err)
			}
			rows := encode(m, n, g.column)
			machine := graph.NewMachine(tape, n)
			got := make([]float64, 2*m.P)
			for _, c := range g.Cases {
				machine.Globals(append(append([]float64(nil), c.Step.M...), c.Step.LogS...), nil)
				var each []float64 // η of each record: element e of record b at e·n + b
				for _, e := range c.Step.Eta {
					each = append(each, slices.Repeat([]float64{e}, n)...)
				}
				machine.Records(rows, m.Encoding.K, n, each)
				for i := range n {
					machine.Gradient(i, got)
					compare(t, "gradient", got, c.Vanilla[i])
				}
			}
		})
	}
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	scale := 1.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-9*scale) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
