package stattest

import "gonum.org/v1/gonum/stat/distuv"

// AtLeast is a lower bound on the probability of an event that was seen k times in
// n independent trials: it is above the truth with probability at most alpha.
// Clopper and Pearson 1934, "The use of confidence or fiducial limits".
func AtLeast(k, n int, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(alpha)
}

// AtMost is an upper bound on that probability: it is below the truth with probability at most alpha.
func AtMost(k, n int, alpha float64) float64 { return 1 - AtLeast(n-k, n, alpha) }
