package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// All numbers that stay above zero are moved by the same, and no zero is moved by more: the
// conditions of the least squares.
func TestSimplex(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 61))
	for _, total := range []float64{0, 1, 40} {
		x := make([]float64, 30)
		for c := range x {
			x[c] = 2 * r.NormFloat64()
		}
		got := Simplex(x, total)
		shift := math.Inf(-1)
		for c, y := range got {
			shift = max(shift, x[c]-y)
		}
		sum := 0.0
		for c, y := range got {
			sum += y
			if y < 0 || y > 0 && math.Abs(x[c]-y-shift) > 1e-12 {
				t.Errorf("total %g: %g became %g", total, x[c], y)
			}
		}
		if math.Abs(sum-total) > 1e-12 {
			t.Errorf("total %g: sum %g", total, sum)
		}
	}
}
