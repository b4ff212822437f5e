package fit

import (
	"math"
	"testing"
)

// With a gradient of known curvature h, g = −h(θ − m), the factor is
// h/(h + τ²/(T/2)); 1 before 0.3 T, and 0 when the estimate is not positive.
func TestTemperFactor(t *testing.T) {
	k := newTemper(100)
	for i := range 50 {
		shift := []float64{math.Sin(float64(i)), math.Cos(float64(i))} // |shift|² = 1
		k.observe([]float64{-4 * shift[0], -4 * shift[1]}, shift, []float64{math.Sqrt(0.5), math.Sqrt(0.5)})
	}
	for _, c := range []struct {
		step    int
		noiseSD float64
		want    float64
	}{{29, 10, 1}, {30, 10, 4 / (4 + 100./50)}, {99, 0, 1}} {
		if got := k.factor(c.step, c.noiseSD); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("factor at step %d with noise %g: %v, want %v", c.step, c.noiseSD, got, c.want)
		}
	}
	k.Num = -1
	if got := k.factor(50, 10); got != 0 {
		t.Errorf("factor of a negative curvature is %v, want 0", got)
	}
}
