package quantile

import "testing"

// Wanted values are those of R: quantile(c(1, 2, 4, 8), p).
func TestOf(t *testing.T) {
	x := []float64{1, 2, 4, 8}
	for p, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.75: 5, 1: 8} {
		if got := Of(x, p); got != want {
			t.Errorf("Of(%v, %g) = %g, want %g", x, p, got, want)
		}
	}
	if got := Of([]float64{7}, 0.3); got != 7 {
		t.Errorf("of a single value: %g, want 7", got)
	}
}
