package fit

import "math"

// noiseVariance follows how the known variance of the privacy noise travels
// through the optimizer into the averaged location m, coordinate by coordinate,
// to first order: with gain a, curvature h and noise variance τ² of the gradient
//
//	δ ← A·δ + a·τ·N(0,1),  A = exp(−a·h),
//
// so V = Var δ obeys V ← A²V + (aτ)². The covariance of δ with the running sum
// of δ gives the variance S of that sum. Reference:
// design of the default, section 4 "Calibration", and testdata/golden/README.md.
type noiseVariance struct {
	start     int       // first averaged step
	Variance  []float64 `json:"variance"`   // V, shape (P)
	Cross     []float64 `json:"cross"`      // K: covariance of δ with the sum so far
	SumSquare []float64 `json:"sum_square"` // S: variance of the sum
	Count     int       `json:"count"`      // terms in the sum
}

func newNoiseVariance(start, latent int) noiseVariance {
	return noiseVariance{
		start:    start,
		Variance: make([]float64, latent), Cross: make([]float64, latent), SumSquare: make([]float64, latent),
	}
}

// add advances one step: gain and precision have shape (P), noiseSD is the
// standard deviation of the gradient's noise, z·C/q.
func (n *noiseVariance) add(t int, gain, precision []float64, noiseSD float64) {
	averaging := t >= n.start
	if averaging {
		n.Count++
	}
	for j, a := range gain {
		decay := math.Exp(-a * precision[j])
		push := a * noiseSD
		v := decay*decay*n.Variance[j] + push*push
		n.Variance[j] = v
		if averaging {
			c := decay * n.Cross[j]
			n.SumSquare[j] += v + 2*c
			n.Cross[j] = c + v
		}
	}
}

// ofMean sets dst (P) to the variance of the averaged location: S/n².
func (n *noiseVariance) ofMean(dst []float64) {
	count := math.Max(1, float64(n.Count))
	for j := range dst {
		dst[j] = n.SumSquare[j] / (count * count)
	}
}
