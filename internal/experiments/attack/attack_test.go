package attack

import (
	"math"
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

// scheduled is the ratio when the noise of step k has factor noise[k], and the sampling rate
// factor rate[k].
func scheduled(noise, rate []float64) ratio {
	return func(u []float64, s, q float64) (sum float64) {
		for k := range u {
			sum += independent(u[k:k+1], s*noise[k], q*rate[k])
		}
		return sum
	}
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
