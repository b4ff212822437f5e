package stats

import (
	"math"
	"testing"
)

// Probabilities .1, .6, .3 of 0, 1, 3, whose logarithms exceed the range of exp.
func TestGridMoments(t *testing.T) {
	mean, variance := GridMoments([]float64{0, 1, 3}, []float64{math.Log(.1) + 2000, math.Log(.6) + 2000, math.Log(.3) + 2000})
	if math.Abs(mean-1.5) > 1e-12 || math.Abs(variance-1.05) > 1e-12 {
		t.Errorf("mean %g, variance %g, want 1.5, 1.05", mean, variance)
	}
}
