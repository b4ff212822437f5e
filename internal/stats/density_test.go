package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/stats"
)

// The estimate of a standard normal density from 1000 draws: the smoothing
// flattens the peak of 0.399 to about 0.38, and the error of the sum is below
// 0.012, so 6.5 times that is not exceeded by chance (P < 1e-10).
func TestDensity(t *testing.T) {
	x := make([]float64, 1000)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	at, density := stats.Density(x, math.Inf(-1), math.Inf(1), -4, 4, 81)
	area := 0.0
	for _, y := range density {
		area += y * 0.1
	}
	if at[40] != 0 || math.Abs(density[40]-0.38) > 0.078 {
		t.Errorf("peak %g at %g, want about 0.38 at 0", density[40], at[40])
	}
	if math.Abs(area-1) > 0.01 {
		t.Errorf("area %g", area)
	}
}

// The density of |x| has no mass below 0, and its area is 1 up to the trapezoidal rule.
// The true density at 0 is 0.798; without reflection the estimate there is half of it.
func TestDensityStaysWithinBounds(t *testing.T) {
	x := make([]float64, 1000)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range x {
		x[i] = math.Abs(rng.NormFloat64())
	}
	area := 0.0
	at, density := stats.Density(x, 0, math.Inf(1), -4, 4, 81)
	for i, y := range density {
		if at[i] < 0 && y != 0 {
			t.Fatalf("density %g at %g", y, at[i])
		}
		weight := 0.1
		if at[i] == 0 {
			weight = 0.05
			if math.Abs(y-0.78) > 0.16 {
				t.Errorf("density %g at 0, want about 0.78", y)
			}
		}
		area += weight * y
	}
	if math.Abs(area-1) > 0.01 {
		t.Errorf("area %g", area)
	}
}

// A constant has no density, and no NaN.
func TestDensityOfConstant(t *testing.T) {
	_, density := stats.Density(make([]float64, 10), math.Inf(-1), math.Inf(1), -1, 1, 81)
	for _, y := range density {
		if y != 0 {
			t.Fatalf("density %g", y)
		}
	}
}
