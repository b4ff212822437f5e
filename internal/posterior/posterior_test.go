package posterior

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/privacy/noise"
)

// Draws have the covariance of guide and noise together. Their density and the
// noise's share in a sum follow from it. Over 40000 draws an entry of the
// correlation matrix has a standard error below 0.005; five of them are allowed.
func TestJointDraws(t *testing.T) {
	post := &Posterior{Mean: []float64{1, -2}, LogSD: make([]float64, 2), VarDP: make([]float64, 2)}
	ofGuide, ofNoise := mat.NewSymDense(2, []float64{4, -1.5, -1.5, 1}), mat.NewSymDense(2, []float64{1, 0.9, 0.9, 1})
	post.setCovariance(ofGuide, ofNoise)
	const s = 40000
	draws := make([]float64, 2*s)
	post.Draws(draws, noise.Public(1).Stream(noise.PosteriorDraws))
	var sum [2]float64
	var square [3]float64
	for i := range s {
		x, y := draws[2*i]-1, draws[2*i+1]+2
		sum[0], sum[1] = sum[0]+x, sum[1]+y
		square[0], square[1], square[2] = square[0]+x*x, square[1]+x*y, square[2]+y*y
	}
	for i, want := range []float64{5, -0.6, 2} {
		if got := square[i] / s; math.Abs(got-want) > 0.025*math.Sqrt(10) {
			t.Errorf("covariance %d: %g, want %g", i, got, want)
		}
	}
	if got, want := post.NoiseVariance([]float64{1, -1}), 1+1-2*0.9; math.Abs(got-want) > 1e-6 {
		t.Errorf("variance of the noise in a difference %g, want %g", got, want)
	}
	const determinant = 5*2 - 0.6*0.6
	want := -math.Log(2*math.Pi) - math.Log(determinant)/2 - (2*1*1+2*0.6*1*1+5*1*1)/(2*determinant)
	if got := post.LogDensity([]float64{2, -1})[0]; math.Abs(got-want) > 1e-6 {
		t.Errorf("log density %g, want %g", got, want)
	}
}
