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

// Cells of width 2 about 0, 2 and 4 with the probabilities .25, 0 and .75.
func TestGridQuantiles(t *testing.T) {
	got := GridQuantiles([]float64{0, 2, 4}, []float64{2000, math.Inf(-1), 2000 + math.Log(3)}, 8)
	for i, want := range []float64{-.5, .5, 3 + 1./6, 3.5, 3 + 5./6, 4 + 1./6, 4.5, 5 - 1./6} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("quantile %d is %g, want %g", i, got[i], want)
		}
	}
}
