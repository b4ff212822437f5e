package figure

import (
	"fmt"
	"math"
	"testing"
)

// Ticks are inside, evenly spaced, as many as asked for or at most half as few,
// and 0 is one of them when it is inside.
func TestRoundTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{-2.02, 1.1, 6, "[-2 -1 0 1]"}, {0, 1000, 4, "[0 500 1000]"}, {-0.034, 0.026, 4, "[-0.02 0 0.02]"},
		{1e6, 3e6, 4, "[1e+06 1.5e+06 2e+06 2.5e+06 3e+06]"}, {0.2, 0.3, 3, "[0.2 0.25 0.3]"},
	} {
		ticks := roundTicks(c.lo, c.hi, c.n)
		var shown []string
		for _, v := range ticks {
			shown = append(shown, plain(v))
			if v < c.lo-1e-9*math.Abs(c.lo) || v > c.hi+1e-9*math.Abs(c.hi) {
				t.Errorf("tick %g is outside %g to %g", v, c.lo, c.hi)
			}
		}
		if got := fmt.Sprint(shown); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

// A place on an axis is between its ends, also for values beyond and for empty
// ranges.
func TestAxisUnit(t *testing.T) {
	for _, a := range []axis{linear("", 0, 10, 5), decades("", 1e-9, 1e-1), linear("", 3, 3, 5)} {
		for _, v := range []float64{0, 1e-5, 3, 1e9} {
			if u := a.unit(v); !(u >= 0 && u <= 1) {
				t.Errorf("%g is at %g of %g to %g", v, u, a.lo, a.hi)
			}
		}
	}
	if u := decades("", 1e-9, 1e-1).unit(1e-5); math.Abs(u-0.5) > 1e-12 {
		t.Errorf("1e-5 is at %g of eight decades, want 0.5", u)
	}
}
