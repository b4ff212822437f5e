package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/predictive"
	"d3p/internal/stattest"
)

// freeData has a number and a count.
var freeData = dataBlock(1,
	"y: {type: real, lower: -40, upper: 60, scale: {center: 10, by: 5}}",
	"n: {type: integer, lower: 0, upper: 60}")

// freeModel observes a column by a density.
func freeModel(t *testing.T, observe string) *models.Model {
	t.Helper()
	return compile(t, freeData+`core:
  params:
    a: normal(0, 1)
    b: normal(0, 1)
    s: half_normal(1)
  rows:
    let:
      eta: a + b * x1
    observe:
      `+observe+"\n")
}

// A log density that is written out is that of the family, with its gradients, and the
// means and draws of it follow the family.
func TestFreeDensity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ free, family string }{
		{"y: log_density(y, -0.5 * ((y - eta) / s)^2 - log(s) - 0.5 * log(2 * 3.141592653589793))", "y: normal(eta, s)"},
		{"y: log_density(y, -0.5 * ((raw(y) - y.center) / y.by - eta)^2 / s^2 - log(s) - 0.5 * log(2 * 3.141592653589793))", "y: normal(eta, s)"},
		{"n: log_density(n, raw(n) * (eta + s) - exp(eta + s) - lgamma(raw(n) + 1))", "n: poisson(log_rate=eta + s)"},
	} {
		free, family := freeModel(t, c.free), freeModel(t, c.family)
		for range 3 {
			theta := normals(free.P, 0.5, rng)
			one := map[string]float64{"x1": rng.NormFloat64(), "y": 10 + 5*rng.NormFloat64(), "n": float64(rng.IntN(9))}
			loss := func(m *models.Model) float64 {
				g := graph.NewMachine(m.Likelihood, 1)
				g.Globals(theta, nil)
				g.Records(encodeOne(m, one), m.Encoding.Width(), 1, nil)
				return g.Loss()[0]
			}
			compare(t, c.free, []float64{loss(free)}, []float64{loss(family)})
			checkGradients(t, free, encodeOne(free, one), theta)
			predict := func(m *models.Model) *predictive.Distribution {
				p := predictive.New(m, 1)
				p.Set(theta)
				p.Records(encodeOne(m, one), m.Encoding.K, 1)
				return p
			}
			p, q := predict(free), predict(family)
			mean, want := make([]float64, 1), make([]float64, 1)
			if !p.Mean(mean, 0) || !q.Mean(want, 0) {
				t.Fatal("no mean")
			}
			if math.Abs(mean[0]-want[0]) > 1e-6*(1+math.Abs(want[0])) {
				t.Errorf("%s: mean %v, want %v", c.free, mean, want)
			}
			var draws []float64
			count := make([]int, 61)
			for range 4000 {
				p.Draw(mean, 0, testRand{rng})
				draws = append(draws, mean[0])
				count[int(max(mean[0], 0))]++
			}
			sd := 5 * math.Exp(theta[2])
			fits := stattest.KolmogorovSmirnov(draws, func(x float64) float64 { return 0.5 * math.Erfc((want[0]-x)/sd/math.Sqrt2) })
			if c.free[0] == 'n' {
				expected := make([]float64, 61)
				for k := range expected {
					logs, _ := math.Lgamma(float64(k) + 1)
					expected[k] = 4000 * math.Exp(float64(k)*math.Log(want[0])-want[0]-logs)
				}
				fits = stattest.ChiSquare(count, expected)
			}
			stattest.Require(t, c.free, fits)
		}
	}
}

// A density whose integral depends on the parameters is warned of, one up to a constant is not.
func TestWarningOfFreeDensity(t *testing.T) {
	for observe, warned := range map[string]bool{
		"y: log_density(y, -0.5 * ((y - eta) / s)^2)":                      true,
		"y: log_density(y, -0.5 * ((y - eta) / s)^2 - log(s))":             false,
		"n: log_density(n, raw(n) * (eta + s))":                            true,
		"n: log_density(n, -exp(eta) + raw(n) * eta - lgamma(raw(n) + 1))": false,
	} {
		m := freeModel(t, strings.Replace(observe, "exp(eta)", "exp(eta) + 0 * s", 1))
		found := false
		for _, w := range m.Spec.Warnings {
			found = found || strings.Contains(w.Message, "integrates to")
		}
		if found != warned {
			t.Errorf("%s: warnings %v", observe, m.Spec.Warnings)
		}
	}
}

// A free density that is not allowed gives one error, which says what to write.
func TestNoFreeDensity(t *testing.T) {
	for observe, want := range map[string]string{
		"y: log_density(n, -n^2)":                "what is observed is y, not n",
		"y: log_density(eta, -eta^2)":            "log_density is not of eta",
		"y: log_density(3, y)":                   "3 is not a column",
		"y: log_density(y, -(y - x1 - unknown))": "unknown name unknown",
		"y: normal(y, 1)":                        "depends on y itself",
	} {
		_, err := models.Read("model.yaml", []byte(freeData+"core:\n  params:\n    a: normal(0, 1)\n  rows:\n    let:\n      eta: a + x1\n    observe:\n      "+observe+"\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", observe, err, want)
		}
	}
	_, err := models.Read("model.yaml", []byte(freeData+"core:\n  params:\n    a: normal(0, 1)\n  rows:\n    let:\n      eta: a + y\n    observe:\n      y: log_density(y, -(y - eta)^2)\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "depends on y itself") {
		t.Errorf("a density that needs the column by another name: %v", err)
	}
}
