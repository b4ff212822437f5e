package fit_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/export"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

const wards = `d3p: 1
name: wards
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}, source: expert}
    ward: {type: category, levels: [a, b, c, d, e, f, g, h]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u + (1 | ward)
  family: bernoulli
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
    sd: half_normal(1)
privacy:
  neighbours: add_remove
`

// Intervals of an intercept beside the effects of groups, and of their standard
// deviation, must hold. In each of 24 tables drawn from the prior the truth of
// both is known: of 48 intervals of 90 % at least 35 must contain it; if each did
// with probability 0.9, fewer would in 1 of 4000 runs, and the run is always the
// same. Independent normals, each as narrow as if the others were known, hold
// in half of the cases.
func TestIntervalsBesideGroups(t *testing.T) {
	stattest.SkipNumerics(t)
	m, err := models.Read("wards.yaml", []byte(wards), nil)
	if err != nil {
		t.Fatal(err)
	}
	var checked []int // coordinates of the intercept and of log sd
	for _, p := range m.Params {
		if p.Name == "Intercept" || p.Name == "sd_ward" {
			checked = append(checked, p.Offset)
		}
	}
	const tables = 24
	covered := map[string]int{}
	for seed := range uint64(tables) {
		s, truth := ofPrior(t, m, 2000, seed)
		for _, aware := range []string{settings.NoiseAwareCurvature, settings.NoiseAwareVariance} {
			p := s.plan(t, plan.Config{Epsilon: 1, NoiseAware: aware, Steps: 500})
			post := s.fitted(t, p, seed)
			sd := make([]float64, m.P)
			post.SD(sd)
			for _, j := range checked {
				if math.Abs(post.Mean[j]-truth[j]) <= 1.6449*sd[j] {
					covered[aware]++
				}
			}
		}
	}
	t.Logf("covered of %d: %v", 2*tables, covered)
	if got := covered[settings.NoiseAwareCurvature]; got < 35 {
		t.Errorf("%d of 48 intervals contain the truth, want 43", got)
	}
	if got := covered[settings.NoiseAwareVariance]; got > 30 {
		t.Errorf("independent normals: %d of 48 intervals contain the truth; a joint normal is no longer needed", got)
	}
}

// writeTable writes a simulated table as CSV.
func writeTable(t *testing.T, table simulate.Table) string {
	t.Helper()
	var text bytes.Buffer
	if err := export.Write(&text, "csv", table, export.Options{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A fit of hardly anything has finite numbers, too: of a model without real-valued
// parameters, in few steps, hardly any budget, or an initial scale too small to measure
// a curvature.
func TestNothingToJoin(t *testing.T) {
	for name, text := range map[string]string{
		"rates": `d3p: 1
name: rates
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 300}
  columns:
    y: {type: integer, lower: 0, upper: 30}
core:
  params:
    rate: gamma(2, 1)
  rows:
    observe:
      y: poisson(rate)
privacy:
  neighbours: add_remove
`,
		"wards": wards,
	} {
		m, err := models.Read(name, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := ofPrior(t, m, 300, 1)
		for _, cfg := range []plan.Config{{Epsilon: 1, Steps: 1}, {Epsilon: 1, Steps: 50}, {Epsilon: 0.01, Steps: 3}, {Epsilon: 1, Steps: 20, InitScale: 1e-200}} {
			p := s.plan(t, cfg)
			post := s.fitted(t, p, 1)
			for j := range post.Mean {
				if x := post.Mean[j] + post.LogSD[j] + post.VarDP[j]; math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%s, %d steps: %g, log sd %g, variance of the noise %g", name, cfg.Steps, post.Mean[j], post.LogSD[j], post.VarDP[j])
				}
			}
		}
	}
}

// A fit with more groups than a joint normal of other models has parameters knows that its intercept is no
// better known than sd/√J by J groups. Independent normals are three times too narrow there.
func TestInterceptBesideManyGroups(t *testing.T) {
	stattest.SkipNumerics(t)
	const groups, records = 320, 3200
	var levels []string
	for k := range groups {
		levels = append(levels, strconv.Itoa(k))
	}
	text := strings.NewReplacer("a, b, c, d, e, f, g, h", strings.Join(levels, ", "), "2000", strconv.Itoa(records)).Replace(wards)
	m, err := models.Read("wards.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	intercept := slices.IndexFunc(m.Params, func(p models.Param) bool { return p.Name == "Intercept" })
	s, _ := ofPrior(t, m, records, 1)
	p := s.plan(t, plan.Config{Epsilon: 4, NoiseAware: settings.NoiseAwareCurvature, Steps: 300})
	post, got := s.fitted(t, p, 1), make([]float64, m.P)
	post.SD(got)
	effects := slices.IndexFunc(m.Params, func(p models.Param) bool { return p.Name == "z_ward" })
	if first := m.Params[effects].Offset; post.Independent(first, first+groups) {
		t.Error("effects of groups correlate with nothing")
	}
	scale := slices.IndexFunc(m.Params, func(p models.Param) bool { return p.Name == "sd_ward" })
	if least := math.Exp(post.Mean[m.Params[scale].Offset]) / math.Sqrt(groups); got[m.Params[intercept].Offset] < least {
		t.Errorf("the intercept has sd %.3f, less than sd/√J = %.3f", got[m.Params[intercept].Offset], least)
	}
}

const gammaAB = `d3p: 1
name: gammas
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    y: {type: real, lower: 0.001, upper: 200}
core:
  params:
    a: log_normal(1.1, 0.01)
    b: log_normal(-0.7, 0.01)
  rows:
    observe:
      y: gamma(a, b)
`

// Parameters with bounds correlate, beside real-valued ones and alone. By the expected information the logs of scale
// and degrees of freedom of a t distribution correlate by .66 where the latter are 4 (Lange, Little and Taylor 1989,
// doi:10.2307/2290063), those of a and b of gamma(a, b) by 1/√(a ψ'(a)), .92 where a is 3. Noise leaves that nearly as it is.
func TestParametersWithBoundsCorrelate(t *testing.T) {
	wide := strings.NewReplacer("log_normal(1.4, 0.01)", "log_normal(1, 1.5)", "log_normal(1.1, 0.01)", "log_normal(1, 1.5)", "log_normal(-0.7, 0.01)", "log_normal(0, 1.5)")
	for _, c := range []struct {
		text, one, other string
		want             float64
	}{
		{strings.NewReplacer("family: normal", "family: student_t", "half_normal(1)", "half_normal(1)\n    nu: log_normal(1.4, 0.01)").Replace(modelstest.Residuals), "sigma", "nu", 0.66},
		{gammaAB, "a", "b", 0.92},
	} {
		m, err := models.Read("narrow.yaml", []byte(c.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := ofPrior(t, m, 1000, 1)
		if s.model, err = models.Read("wide.yaml", []byte(wide.Replace(c.text)), nil); err != nil {
			t.Fatal(err)
		}
		post := s.fitted(t, s.plan(t, plan.Config{Epsilon: 8, Steps: 300}), 1)
		place := func(name string) int {
			return m.Params[slices.IndexFunc(m.Params, func(p models.Param) bool { return p.Name == name })].Offset
		}
		const draws = 4000
		var one, other [draws]float64
		theta, rng := make([]float64, m.P), noise.Public(1).Stream(noise.Simulation)
		for i := range draws {
			post.Draws(theta, rng)
			one[i], other[i] = theta[place(c.one)], theta[place(c.other)]
		}
		if got := stat.Correlation(one[:], other[:], nil); math.Abs(math.Atanh(got)-math.Atanh(c.want)) > 0.4 {
			t.Errorf("%s and %s correlate by %.2f, want %.2f", c.one, c.other, got, c.want)
		}
	}
}
