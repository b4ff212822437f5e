package fit

import (
	"math"

	"d3p/internal/simd"
)

// noiseVariance follows the known variance of the privacy noise through the optimizer into
// the averaged location m, coordinate by coordinate, to first order. With gain a, curvature
// h and noise variance τ² of the gradient, the error δ of an iterate obeys
//
//	δ ← A·δ + a·τ·N(0,1),  A = exp(−a·h),
//
// so V = Var δ obeys V ← A²V + (aτ)². The covariance of δ with the running sum of δ gives
// the variance S of that sum. testdata/golden/README.md names the source of the test
// vectors. stepTape.addNoise is the same recursion as a graph.
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

// begin counts step t.
func (n *noiseVariance) begin(t int) {
	if t >= n.start {
		n.Count++
	}
}

// add advances coordinates low <= j < high by step t: gain and precision have
// shape (P), noiseSD is the standard deviation of the gradient's noise, z·C/q.
func (n *noiseVariance) add(t int, gain, precision []float64, noiseSD float64, low, high int, s *scratch) {
	for lo := low; lo < high; lo += chunk {
		hi := min(lo+chunk, high)
		decay, push, v := s[0][:hi-lo], s[1][:hi-lo], n.Variance[lo:hi]
		advanceVariance(v, decay, push, gain[lo:hi], precision[lo:hi], noiseSD)
		if t >= n.start {
			advanceSum(n.SumSquare[lo:hi], n.Cross[lo:hi], v, decay, push)
		}
	}
}

// advanceVariance sets decay to A and v to A²v + (aτ)².
func advanceVariance(v, decay, push, gain, precision []float64, noiseSD float64) {
	simd.Mul(decay, gain, precision)
	simd.MulScalar(decay, decay, -1)
	simd.Exp(decay, decay)
	simd.Mul(push, decay, decay)
	simd.Mul(v, push, v)
	simd.MulScalar(push, gain, noiseSD)
	simd.Mul(push, push, push)
	simd.Add(v, v, push)
}

// advanceSum adds v + 2AK to s and sets cross, K, to AK + v.
func advanceSum(s, cross, v, decay, push []float64) {
	simd.Mul(cross, decay, cross)
	simd.Add(push, cross, cross)
	simd.Add(push, push, v)
	simd.Add(s, s, push)
	simd.Add(cross, cross, v)
}

// ofMean sets dst (P) to the variance of the averaged location: S/n².
func (n *noiseVariance) ofMean(dst []float64) {
	count := math.Max(1, float64(n.Count))
	for j := range dst {
		dst[j] = n.SumSquare[j] / (count * count)
	}
}
