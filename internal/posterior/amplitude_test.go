package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

const surely = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    u: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    v: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u + v
  family: bernoulli
  priors:
    b: normal(0, 3)
    Intercept: normal(0, 1)
`

// A fit of a logistic regression that stayed at a third of its coefficients: its released
// gradients are those of records with the whole ones, and noise. The interval of the normal
// posterior leaves them out, that of the amplitude holds them. Where the fit has arrived, the
// amplitude stays.
func TestAmplitudeOfLargeCoefficients(t *testing.T) {
	m := modelstest.Compile(t, "surely.yaml", surely)
	const noiseSD, sd = 15.0, 0.3
	fitted := []float64{0.2, 1.5, -1}
	for _, factor := range []float64{1, 3} {
		truth := make([]float64, m.P)
		m.Amplify(truth, fitted, factor)
		got := amplified(ended(t, m, fitted, truth, noiseSD, []float64{sd * sd, sd * sd, sd * sd}))
		if got == nil {
			t.Fatalf("factor %g: the amplitude is not measured", factor)
		}
		sds := make([]float64, m.P)
		got.SD(sds)
		for j, x := range truth {
			low, high := got.Mean[j]-1.645*sds[j], got.Mean[j]+1.645*sds[j]
			t.Logf("factor %g: %.2f to %.2f, truth %.2f, fitted %.2f ± %.2f", factor, low, high, x, fitted[j], sd)
			if !(low < x && x < high) {
				t.Errorf("factor %g: the interval %.2f to %.2f does not hold %.2f", factor, low, high, x)
			}
			if factor == 1 && math.Abs(got.Mean[j]-x) > 0.3 {
				t.Errorf("the mean is %.2f, want about %.2f", got.Mean[j], x)
			}
		}
	}
}

// A normal response has no amplitude of its own: none of its gradients saturates, and what is not known of
// its residual standard deviation would move the coefficients.
func TestNoAmplitudeOfANormalResponse(t *testing.T) {
	of := strings.NewReplacer("{type: binary, levels: [\"0\", \"1\"]}", "{type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}}",
		"bernoulli", "normal", "Intercept: normal(0, 1)", "Intercept: normal(0, 1)\n    sigma: half_normal(1)")
	m := modelstest.Compile(t, "normal.yaml", of.Replace(surely))
	fitted, truth := []float64{0.2, 1.5, -1, -0.5}, []float64{0.2, 1.5, -1, 0.3}
	if amplified(ended(t, m, fitted, truth, 15, []float64{0.09, 0.09, 0.09, 0.5})) != nil {
		t.Error("coefficients of a normal response get another amplitude")
	}
}

// A draw keeps its proportions: its part along the amplitude is replaced, and the rest grows
// with the factor. Cuts keep the proportions of their gaps.
func TestAmplitudeKeepsProportions(t *testing.T) {
	m := modelstest.Compile(t, "surely.yaml", surely)
	draws := make([]float64, 3*2000)
	mean := []float64{0.2, 1.5, -1}
	noise.Public(1).Stream(noise.Simulation).Normals(draws)
	for i := range draws {
		draws[i] = mean[i%3] + 0.1*draws[i]
	}
	a := newAmplitude(m, draws)
	stattest.Require(t, "standard deviation", stattest.Normal((a.sd-0.1/math.Sqrt(0.04+2.25+1))/(0.06/math.Sqrt(2*2000))))
	theta := slices.Clone(a.mean)
	for j := range theta {
		theta[j] += 0.2 * a.along[j] // the amplitude alone
	}
	a.set(theta, 2)
	for j, x := range theta {
		if math.Abs(x-2*a.mean[j]) > 1e-9 {
			t.Errorf("coordinate %d is %g, want twice %g", j, x, a.mean[j])
		}
	}
}

// Quantiles of a normal log density are those of the normal.
func TestQuantilesOfAmplitudes(t *testing.T) {
	logs := make([]float64, len(amplitudes))
	for i, x := range amplitudes {
		z := (math.Log(x) - 0.3) / 0.25
		logs[i] = -z*z/2 + 100
	}
	list := quantilesOf(logs, 2000)
	for _, c := range []struct{ u, z float64 }{{0.05, -1.6449}, {0.5, 0}, {0.95, 1.6449}} {
		if got, want := math.Log(list[int(c.u*2000)]), 0.3+0.25*c.z; math.Abs(got-want) > 0.02 {
			t.Errorf("quantile %g of the log is %.3f, want %.3f", c.u, got, want)
		}
	}
	logs[0] = math.Inf(-1)
	if quantilesOf(logs, 10) != nil {
		t.Error("quantiles of a density that is not finite")
	}
}
