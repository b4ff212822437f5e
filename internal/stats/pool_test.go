package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Estimates that differ as their errors do become one, with the error of their mean; well-known ones that differ stay, and
// of 20,000 others the error is what it is said to be, which is less than before.
func TestShrink(t *testing.T) {
	same, of := []float64{1.1, 0.9, 1, 1}, []float64{0.04, 0.04, 0.04, 0.04}
	Shrink(same, of)
	for j, x := range same {
		if math.Abs(x-1) > 1e-12 || math.Abs(of[j]-0.01) > 1e-12 {
			t.Errorf("estimate %d is %g ± %g", j, x, math.Sqrt(of[j]))
		}
	}
	known, of := []float64{0, 2}, []float64{1e-6, 1e-6}
	Shrink(known, of)
	if math.Abs(known[0]) > 1e-5 || math.Abs(known[1]-2) > 1e-5 || math.Abs(of[0]/1e-6-1) > 1e-3 {
		t.Errorf("known estimates become %v, variances %v", known, of)
	}
	rng, n := rand.New(rand.NewPCG(1, 2)), 20000
	truth, x, v := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range truth {
		truth[j], v[j] = 3+0.5*rng.NormFloat64(), 0.25
		x[j] = truth[j] + 0.5*rng.NormFloat64()
	}
	Shrink(x, v)
	square := 0.0
	for j := range truth {
		square += (x[j] - truth[j]) * (x[j] - truth[j]) / float64(n)
	}
	if math.Abs(square/v[0]-1) > 0.05 || math.Abs(square/0.125-1) > 0.05 {
		t.Errorf("mean square error %g, said to be %g, want 0.125", square, v[0])
	}
}
