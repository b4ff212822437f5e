// Package stattest turns samples into p-values for tests.
//
// A statistical test in this repository fixes its seed, computes a p-value
// under the law that the code claims, and hands it to Require. With the seed
// fixed the outcome never changes from run to run; Alpha bounds the chance
// that a correct program was born unlucky.
package stattest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Alpha is the probability with which a correct program fails one check.
// A thousand checks at this level fail by chance once in a million programs.
const Alpha = 1e-9

// Require fails the test when the p-value is below Alpha or is not a probability at all.
// The name is that of the tested law.
func Require(t testing.TB, name string, p float64) {
	t.Helper()
	if !(p >= Alpha && p <= 1) {
		t.Errorf("%s: p-value %.3g is below %g", name, p, Alpha)
	}
}

// Normal returns the two-sided p-value of z under N(0, 1): P(|Z| >= |z|).
func Normal(z float64) float64 {
	return math.Erfc(math.Abs(z) / math.Sqrt2)
}

// Binomial returns a p-value for k successes in n trials of probability p:
// twice the smaller tail, both tails including k, at most 1.
func Binomial(k, n int, p float64) float64 {
	d := distuv.Binomial{N: float64(n), P: p}
	lower := d.CDF(float64(k))
	// P(X >= k) as the lower tail of the failures, which keeps its digits.
	upper := distuv.Binomial{N: float64(n), P: 1 - p}.CDF(float64(n - k))
	return math.Min(1, 2*math.Min(lower, upper))
}
