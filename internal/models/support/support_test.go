package support

import (
	"math"
	"testing"
)

// No support has a value that is not a finite number.
func TestSupportsAreFinite(t *testing.T) {
	for _, s := range []Support{{Kind: Real}, {Kind: Interval, Lower: math.Inf(-1), Upper: 3}, {Kind: Interval, Lower: -3, Upper: math.Inf(1)}, {Kind: Ordered}} {
		if !s.Contains([]float64{0}) {
			t.Errorf("%v does not contain 0", s)
		}
		for _, x := range []float64{math.Inf(-1), math.Inf(1), math.NaN()} {
			if s.Contains([]float64{x}) {
				t.Errorf("%v contains %g", s, x)
			}
		}
	}
}

// Bounds are outside of an interval, and so is what is beyond either.
func TestIntervalIsOpen(t *testing.T) {
	s := Support{Kind: Interval, Lower: -1, Upper: 2}
	for x, want := range map[float64]bool{-5: false, -1: false, -0.999: true, 1.999: true, 2: false, 7: false} {
		if s.Contains([]float64{x}) != want {
			t.Errorf("%v contains %g: %v, want %v", s, x, !want, want)
		}
	}
}
