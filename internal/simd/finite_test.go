package simd

import (
	"math"
	"testing"
)

func TestFinite(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want bool
	}{
		{nil, true},
		{[]float64{0, -1, 1e300}, true},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, true}, // their sum overflows
		{[]float64{1, math.NaN(), 2}, false},
		{[]float64{math.Inf(1)}, false},
		{[]float64{math.Inf(1), math.Inf(-1)}, false},
	} {
		if got := Finite(c.x); got != c.want {
			t.Errorf("Finite(%v) = %v", c.x, got)
		}
	}
}
