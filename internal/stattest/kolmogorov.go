package stattest

import (
	"math"
	"slices"
)

// KolmogorovSmirnov returns the p-value of the largest distance between the
// empirical distribution of sample and the continuous cdf. The sample is
// sorted in place and needs at least 100 values: the p-value is Kolmogorov's
// limit with the finite-sample correction of Stephens 1970.
func KolmogorovSmirnov(sample []float64, cdf func(float64) float64) float64 {
	n := float64(len(sample))
	if n < 100 {
		panic("stattest: Kolmogorov-Smirnov needs at least 100 values")
	}
	slices.Sort(sample)
	var d float64
	for i, x := range sample {
		f := cdf(x)
		d = math.Max(d, math.Max(f-float64(i)/n, float64(i+1)/n-f))
	}
	return kolmogorovTail(d * (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)))
}

// kolmogorovTail is P(K > x) = 2 sum_{k>=1} (-1)^(k-1) exp(-2 k² x²).
func kolmogorovTail(x float64) float64 {
	if x < 0.2 {
		return 1 // the series needs many terms there, and the value is 1 - 1e-12
	}
	var sum float64
	sign := 2.0
	for k := 1.0; k <= 100; k++ {
		term := sign * math.Exp(-2*k*k*x*x)
		sum += term
		if math.Abs(term) < 1e-17*math.Abs(sum) {
			break
		}
		sign = -sign
	}
	return math.Max(0, math.Min(1, sum))
}
