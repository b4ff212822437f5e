package attack

import (
	"math"

	"d3p/internal/stattest"
)

// A ratio is the log-likelihood ratio of a release: with the record over without
// it, from its projections u on the direction in which the record moves it, one per
// step. Without the record they are N(0, s²), with it the sampler's mixture of that
// and N(1, s²).
type ratio func(u []float64, s, q float64) float64

// always is the ratio when the record is in every batch.
func always(u []float64, s, _ float64) (sum float64) {
	for _, x := range u {
		sum += (2*x - 1) / (2 * s * s)
	}
	return sum
}

// independent is the ratio when it is in each batch with probability q.
func independent(u []float64, s, q float64) (sum float64) {
	for _, x := range u {
		sum += math.Log1p(q * math.Expm1((2*x-1)/(2*s*s)))
	}
	return sum
}

// replaced is the ratio when a record of the opposite direction takes its place.
func replaced(u []float64, s, q float64) (sum float64) {
	for _, x := range u {
		sum += math.Log1p(q*math.Expm1((2*x-1)/(2*s*s))) - math.Log1p(q*math.Expm1((-2*x-1)/(2*s*s)))
	}
	return sum
}

// once is the ratio when it is in one batch of every epoch of 1/q, each as likely.
func once(u []float64, s, q float64) (sum float64) {
	batches := int(math.Round(1 / q))
	for ; len(u) > 0; u = u[batches:] {
		mean := 0.0
		for _, x := range u[:batches] {
			mean += q * math.Exp((2*x-1)/(2*s*s))
		}
		sum += math.Log(mean)
	}
	return sum
}

// thresholds of the tests, as parts of the certified epsilon: the last is the best
// against the mechanism that was certified, the others against less noise.
var thresholds = [...]float64{0.25, 0.5, 0.75, 1}

// leaked is a lower bound on epsilon at delta from the ratios of releases with the record
// and without, wrong with probability at most stattest.Alpha. Its tests answer "with"
// above a threshold, which does not depend on the releases. For an (epsilon, delta)
// mechanism TPR <= e^epsilon FPR + delta, also for the tests that answer "without" below
// minus the threshold. Kairouz, Oh and Viswanath 2015, arXiv:1311.0776.
func leaked(with, without []float64, certified, delta float64) (epsilon float64) {
	const each = stattest.Alpha / float64(4*len(thresholds)) // of four rates
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
		bound := func(right, wrong []float64, sign float64) float64 {
			tpr := stattest.AtLeast(above(right, sign), len(right), each)
			fpr := stattest.AtMost(above(wrong, sign), len(wrong), each)
			return math.Log(math.Max(0, tpr-delta) / fpr)
		}
		epsilon = math.Max(epsilon, math.Max(bound(with, without, 1), bound(without, with, -1)))
	}
	return epsilon
}
