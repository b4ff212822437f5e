package fit

import (
	"d3p/internal/fit/plan"
	"d3p/internal/posterior"
	"d3p/internal/simd"
)

// gradientSums adds up the sums from which the posterior measures its curvature.
// gradientSumsTape is the same recursion as a graph.
type gradientSums struct{ posterior.GradientSums }

func newGradientSums(latent int) gradientSums { return gradientSums{posterior.NewGradientSums(latent)} }

// observation is the input of step T (from 0): θ, d = θ − m, the released likelihood
// gradient and the prior's gradient, each of shape (P). NoiseSD is τ > 0, Settled is u.
type observation struct {
	Theta, D, Likelihood, Prior []float64
	T                           int
	Settled, NoiseSD, ClipNorm  float64
}

// begin counts a step.
func (c *gradientSums) begin(o observation) {
	c.Totals[0] += o.Settled
	c.Totals[1] += o.Settled * o.Settled * o.NoiseSD * o.NoiseSD
	c.Totals[2] += o.Settled * o.ClipNorm
	c.Totals[3] += o.Settled * o.ClipNorm * o.ClipNorm
}

// observe adds coordinates low <= j < high of a step.
func (c *gradientSums) observe(o observation, low, high int, s *scratch) {
	w, variance := plan.StepWeight(o.T), o.NoiseSD*o.NoiseSD
	for lo := low; lo < high; lo += chunk {
		hi := min(lo+chunk, high)
		x, g, p := o.D[lo:hi], o.Likelihood[lo:hi], o.Prior[lo:hi]
		wx, term := s[0][:hi-lo], s[1][:hi-lo]
		simd.MulScalar(wx, x, w)
		simd.Mul(term, wx, g)
		simd.Sub(c.Likelihood[lo:hi], c.Likelihood[lo:hi], term)
		simd.Mul(term, wx, p)
		simd.Sub(c.Prior[lo:hi], c.Prior[lo:hi], term)
		simd.Mul(term, wx, x)
		simd.Add(c.Square[lo:hi], c.Square[lo:hi], term)
		simd.MulScalar(term, x, w*w*variance)
		simd.Mul(term, term, x)
		simd.Add(c.Noise[lo:hi], c.Noise[lo:hi], term)
		for _, sum := range [...]struct{ to, of []float64 }{
			{c.Place, o.Theta[lo:hi]}, {c.LikelihoodSlope, g}, {c.PriorSlope, p},
		} {
			simd.MulScalar(term, sum.of, o.Settled)
			simd.Add(sum.to[lo:hi], sum.to[lo:hi], term)
		}
	}
}

// addGain adds the optimizer's gain of coordinates low <= j < high in an averaged step.
func (c *gradientSums) addGain(gain []float64, low, high int) {
	simd.Add(c.Gain[low:high], c.Gain[low:high], gain[low:high])
}
