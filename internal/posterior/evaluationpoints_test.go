package posterior

import (
	"math"
	"testing"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/noise"
)

// Each group of places has the weighted mean of all θ, and the groups together vary as the iterates do.
func TestPlacesVaryAsIterates(t *testing.T) {
	const steps, mean, start = 200, 0.3, 40
	rng := noise.NewRandom(noise.Public(6).Stream(noise.Simulation))
	r := Releases{Guide: guide.NewMeanField(1), Lambda: []float64{0, math.Log(1e-6)}, Gradients: NewGradientSums(1)}
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
	want := second/weights - math.Pow(first/weights, 2)
	var variance, count float64
	for range 100 {
		for _, group := range r.places(rng) {
			sum := 0.0
			for _, p := range group {
				sum += p.theta[0] / float64(len(group))
				variance, count = variance+math.Pow(p.theta[0]-mean, 2), count+1
			}
			if math.Abs(sum-mean) > 1e-9 {
				t.Fatalf("the mean of a group is %g, want %g", sum, mean)
			}
		}
	}
	// 1000 groups of four iterates: the ratio has a standard deviation of √(2/3000) or so.
	if ratio := variance / count / want; math.Abs(ratio-1) > 0.12 {
		t.Errorf("places have %.2f of the variance of iterates", ratio)
	}
}
