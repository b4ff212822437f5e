package posterior

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/guide"
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
