package posterior

import (
	"math"
	"testing"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/noise"
)

// The places have the weighted mean of all θ, and vary as the iterates and their noise do.
func TestPlacesVaryAsIterates(t *testing.T) {
	const steps, mean, start, guideSD = 200, 0.3, 40, 2.0
	rng := noise.NewRandom(noise.Public(6).Stream(noise.Simulation))
	r := Releases{Guide: guide.NewMeanField(1), Lambda: []float64{0, math.Log(guideSD)}, Gradients: NewGradientSums(1)}
	r.Gradients.Totals, r.Gradients.Place[0] = []float64{1, 1, 1, 1}, mean
	var weights, first, second float64
	for k := range steps {
		x := rng.Normal()
		r.Trace.Steps, r.Trace.Mean = append(r.Trace.Steps, k+1), append(r.Trace.Mean, x)
		if k >= start {
			u := float64(k)
			weights, first, second = weights+u, first+u*x, second+u*x*x
		}
	}
	want := second/weights - math.Pow(first/weights, 2) + guideSD*guideSD
	var variance, count float64
	for range 100 {
		sum := 0.0
		for _, group := range r.places(rng) {
			for _, p := range group {
				sum += p.theta[0] / (2 * placeGroups * placePairs)
				variance, count = variance+math.Pow(p.theta[0]-mean, 2), count+1
			}
		}
		if math.Abs(sum-mean) > 1e-9 {
			t.Fatalf("the mean of the places is %g, want %g", sum, mean)
		}
	}
	// 4000 pairs: the ratio has a standard deviation of √(2/4000) or so.
	if ratio := variance / count / want; math.Abs(ratio-1) > 0.12 {
		t.Errorf("places have %.2f of the variance of iterates", ratio)
	}
}
