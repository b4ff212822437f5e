package attack

import (
	"math"

	"d3p/internal/stattest"
)

// thresholds of the tests, as parts of the certified epsilon. The last is best against the
// certified mechanism, the others against less noise.
var thresholds = [...]float64{0.25, 0.5, 0.75, 1}

// leaked is a lower bound on epsilon at delta, wrong with probability at most `wrong`, from
// the ratios of releases with and without the record. Its tests answer "with" above a
// threshold that does not depend on the releases. For an (epsilon, delta) mechanism TPR <=
// e^epsilon FPR + delta, also for tests that answer "without" below minus the threshold.
// Kairouz, Oh and Viswanath 2015, arXiv:1311.0776.
func leaked(with, without []float64, certified, delta, wrong float64) (epsilon float64) {
	each := wrong / float64(4*len(thresholds)) // of four rates
	for _, part := range thresholds {
		threshold := part * certified
		above := func(x []float64, sign float64) (k int) {
			for _, r := range x {
				if sign*r > threshold {
					k++
				}
			}
			return k
		}
		bound := func(right, other []float64, sign float64) float64 {
			tpr := stattest.AtLeast(above(right, sign), len(right), each)
			fpr := stattest.AtMost(above(other, sign), len(other), each)
			return math.Log(math.Max(0, tpr-delta) / fpr)
		}
		epsilon = math.Max(epsilon, math.Max(bound(with, without, 1), bound(without, with, -1)))
	}
	return epsilon
}
