package posterior

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
)

// Real-valued parameters with few records each are not corrected; a spread is.
func TestFewRecordsAreNotCorrected(t *testing.T) {
	p := 3
	j := &jointNormal{simulation: simulation{model: &models.Model{P: p}}}
	for records, want := range map[int]bool{models.LeastPerNumber*p - 1: false, models.LeastPerNumber * p: true} {
		j.records = records
		if j.corrects([]int{0, 1, 2}) != want || !j.corrects([]int{0, 1}) {
			t.Errorf("%d records: coefficients %t, beside a spread %t", records, !want, j.corrects([]int{0, 1}))
		}
	}
}

// setCovariance sets the covariances of the guide and of the noise, and the variances
// of both. It leaves a copy that was made earlier unchanged.
func TestSetCovariance(t *testing.T) {
	p := &Posterior{Guide: guide.NewMeanField(2), Lambda: []float64{1, 2, -1, -1}, LogSD: []float64{-1, -1}, VarDP: []float64{3, 4}}
	p.Mean = p.Lambda[:2]
	before := p.clone()
	ofGuide, ofNoise := mat.NewSymDense(2, []float64{0.04, 0.01, 0.01, 0.09}), mat.NewSymDense(2, []float64{0.01, 0.002, 0.002, 0.03})
	if !p.setCovariance(ofGuide, ofNoise) {
		t.Fatal("the covariance is refused")
	}
	f := p.NoiseFactor // rows of a lower triangle
	noise := []float64{f[0] * f[0], f[0] * f[1], f[1]*f[1] + f[2]*f[2]}
	sd := make([]float64, 2)
	p.Guide.SD(sd, p.Lambda)
	for name, pair := range map[string][2]float64{
		"mean 0": {p.Mean[0], 1}, "mean 1": {p.Mean[1], 2}, "guide sd 0": {sd[0], 0.2}, "guide sd 1": {sd[1], 0.3},
		"log sd 0": {p.LogSD[0], math.Log(0.2)}, "log sd 1": {p.LogSD[1], math.Log(0.3)}, "noise 0": {p.VarDP[0], 0.01}, "noise 1": {p.VarDP[1], 0.03},
		"noise factor 00": {noise[0], 0.01}, "noise factor 01": {noise[1], 0.002}, "noise factor 11": {noise[2], 0.03},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-8*math.Abs(pair[1]) { // directions without noise are given a little
			t.Errorf("%s is %g, want %g", name, pair[0], pair[1])
		}
	}
	if before.Lambda[2] != -1 || before.LogSD[0] != -1 || before.VarDP[1] != 4 || before.NoiseFactor != nil {
		t.Errorf("the copy has changed: %+v", before)
	}
	copied := before.clone()
	copied.Mean[0], copied.LogSD[0], copied.VarDP[0] = 9, 9, 9
	if copied.Lambda[0] != 9 || before.Lambda[0] != 1 || before.LogSD[0] != -1 || before.VarDP[0] != 3 {
		t.Errorf("a copy shares numbers: %+v", before)
	}
}

const twoColumns = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 500}
  columns:
    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}
    z: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}
    y: {type: real, lower: -90, upper: 90, scale: {center: 0, by: 1}}
core:
  params:
    a: normal(0, 1)
    b: normal(0, 1)
  rows:
    observe:
      y: normal(a * x + b * z, 1)
`

// A correlation that is known exactly leaves the covariances as they are; one that is known
// to ± .1 makes the difference of two coefficients less certain, and their sum hardly.
func TestUncertainCorrelationWidens(t *testing.T) {
	m := modelstest.Compile(t, "twoColumns.yaml", twoColumns)
	ones := func(x float64) []float64 { return slices.Repeat([]float64{x}, 2) }
	// the gradients measure next to nothing of the curvature
	sums := GradientSums{Totals: []float64{1, 50, 0, 0}, Likelihood: ones(0), Prior: ones(1), Square: ones(1), Noise: ones(1e9)}
	c := &curvature{GradientSums: sums, sizes: []int{1, 1}, floor: ones(1)}
	mean, free, ratio := ones(0.1), []int{0, 1}, ones(1)
	for _, sd := range []float64{0, 0.1} {
		l := *m.DeclaredLaw()
		l.Columns = slices.Clone(l.Columns)
		l.Columns[0].Edges, l.Columns[0].Shares, l.Columns[0].ShareSD = []float64{-2, 0, 2}, ones(0.5), ones(0)
		l.Correlation, l.CorrelationSD = []float64{1, 0.8, 0, 0.8, 1, 0, 0, 0, 1}, []float64{0, sd, 0, sd, 0, 0, 0, 0, 0}
		j := &jointNormal{simulation: simulation{model: m, law: &l, seed: 5}, records: 500, curvature: c, clipNorm: math.MaxFloat64}
		prior := mat.NewSymDense(2, []float64{1, 0, 0, 1})
		w := widening{free: free, prior: prior, releasedMeans: noReleases(2), ratio: ratio, noise: c.noiseVariance()}
		h := j.information(&l, mean, free, nil)
		h.plugIn = h.likelihood
		bought := w.posteriorUnder(h)
		along := func(sign float64) []float64 { // the variances of a ± b
			v := mat.NewVecDense(2, []float64{1, sign})
			return []float64{mat.Inner(v, bought.exact, v), mat.Inner(v, bought.total, v)}
		}
		difference, sum := along(-1), along(1)
		bought = j.overLaws(h, mean, nil, w)
		floats.DivTo(difference, along(-1), difference)
		floats.DivTo(sum, along(1), sum)
		for i, name := range []string{"without the noise", "with it"} {
			switch {
			case sd == 0 && (math.Abs(difference[i]-1) > 1e-9 || math.Abs(sum[i]-1) > 1e-9):
				t.Errorf("%s, a known correlation: variances change by factors %g and %g", name, difference[i], sum[i])
			case sd > 0 && (difference[i] < 1.3 || sum[i] > 1.2):
				t.Errorf("%s, a correlation ± .1: variance of the difference × %.2f, of the sum × %.2f", name, difference[i], sum[i])
			}
		}
	}
}

// Where nothing is known of correlations and the noise exceeds what records say, sums and
// differences of coefficients are less certain than independent columns would have them. With
// less noise the declared law stays, sooner in a fit that buys nothing on purpose.
func TestUnknownCorrelationsWidenUnderNoise(t *testing.T) {
	m := modelstest.Compile(t, "twoColumns.yaml", twoColumns)
	ones := func(x float64) []float64 { return slices.Repeat([]float64{x}, 2) }
	mean, l := ones(0.1), m.DeclaredLaw()
	for _, test := range []struct {
		noise            float64
		wouldBuy, widens bool
	}{{50, true, false}, {200, false, false}, {200, true, true}, {5000, false, true}} {
		noise, widens := test.noise, test.widens
		sums := GradientSums{Totals: []float64{1, noise, 0, 0}, Likelihood: ones(0), Prior: ones(1), Square: ones(1), Noise: ones(1e9)}
		c := &curvature{GradientSums: sums, sizes: []int{1, 1}, floor: ones(1)}
		j := &jointNormal{simulation: simulation{model: m, law: l, seed: 5}, records: 500, curvature: c, clipNorm: math.MaxFloat64, wouldBuy: test.wouldBuy}
		w := widening{free: []int{0, 1}, prior: mat.NewSymDense(2, []float64{1, 0, 0, 1}), releasedMeans: noReleases(2), ratio: ones(1), noise: c.noiseVariance()}
		h := j.information(l, mean, w.free, nil)
		before, after := w.posteriorUnder(h), j.overLaws(h, mean, nil, w)
		for _, sign := range []float64{1, -1} {
			v := mat.NewVecDense(2, []float64{1, sign})
			if factor := mat.Inner(v, after.total, v) / mat.Inner(v, before.total, v); widens != (factor > 1.2) || !widens && factor != 1 {
				t.Errorf("noise %g, would buy %t, sign %g: variance × %.3f", noise, test.wouldBuy, sign, factor)
			}
		}
	}
}
