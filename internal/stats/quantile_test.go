package stats

import "testing"

// Wanted values are those of R: quantile(c(1, 2, 4, 8), p).
func TestQuantile(t *testing.T) {
	x := []float64{1, 2, 4, 8}
	for p, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.75: 5, 1: 8} {
		if got := Quantile(x, p); got != want {
			t.Errorf("Quantile(%v, %g) = %g, want %g", x, p, got, want)
		}
	}
	if got := Quantile([]float64{7}, 0.3); got != 7 {
		t.Errorf("of a single value: %g, want 7", got)
	}
}
