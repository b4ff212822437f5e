package stattest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// At its lower bound an event is seen k times or more with probability alpha, at
// its upper bound k times or fewer.
func TestClopperPearson(t *testing.T) {
	for _, n := range []int{1, 10, 1000} {
		for _, k := range []int{1, n / 2, n} {
			for _, alpha := range []float64{0.05, Alpha} {
				if k == 0 {
					continue
				}
				low := distuv.Binomial{N: float64(n), P: AtLeast(k, n, alpha)}
				if p := low.Survival(float64(k - 1)); math.Abs(p/alpha-1) > 1e-4 {
					t.Errorf("%d of %d: at least with probability %g, want %g", k, n, p, alpha)
				}
				high := distuv.Binomial{N: float64(n), P: AtMost(n-k, n, alpha)}
				if p := high.CDF(float64(n - k)); math.Abs(p/alpha-1) > 1e-4 {
					t.Errorf("%d of %d: at most with probability %g, want %g", n-k, n, p, alpha)
				}
			}
		}
	}
	if AtLeast(0, 10, 0.05) != 0 || AtMost(10, 10, 0.05) != 1 {
		t.Error("what was never or always seen has a bound")
	}
}
