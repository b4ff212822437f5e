package fit

import "math"

// Of the averaged iterates' distance to where they started, less than
// exp(−relaxed) is left after that many time constants of the optimizer.
const relaxed = 4

// minNewton is the signal μN from which Newton steps are taken: below it the
// gradients say too little of where they lead.
const minNewton = 200.0

// newtonReach bounds a Newton step, in standard deviations of where it leads.
const newtonReach = 3

// locate replaces mean, logSD and varDP, each of shape (P), in the coordinates
// that the optimizer had no time to settle in, by one Newton step from the mean
// of all θ that gradients were released at. Such coordinates are known by the
// time constants that passed while averaging, Σ gain·precision.
//
// The mean released gradient ḡ = −h(θ̄ − θ*) + noise of variance v̄ is a noisy
// measurement of the likelihood's mode θ* with precision κh, κ = h/(h + v̄),
// instead of the h that it has without noise. With the prior's λ and its mean
// gradient p̄ the posterior of a normal model is
//
//	precision λ + κh, mean θ̄ + (p̄ + κḡ)/(λ + κh),
//
// of which 1/(λ + κh) − 1/(λ + h) stands for the noise. The step is shortened as
// if h were larger by its standard error: one with too small a precision goes
// too far. It is a better use of the same releases than a random walk whose
// drift is a fraction of its noise.
func (c *curvature) locate(mean, logSD, varDP []float64) {
	weight := c.Totals[0]
	noise := c.noiseOfMean()
	c.each(func(j int, h, v, lambda float64) {
		kappa := h / (h + noise)
		precision, exact := c.precision(j, kappa*h, lambda), c.precision(j, h, lambda)
		if c.Relaxation[j] >= relaxed || !isPositive(precision) || !isPositive(exact) {
			return
		}
		step := (c.PriorSlope[j] + kappa*c.LikelihoodSlope[j]) / (weight * c.precision(j, kappa*(h+math.Sqrt(v)), lambda))
		reach := newtonReach / math.Sqrt(precision)
		mean[j] = c.Place[j]/weight + math.Max(-reach, math.Min(step, reach))
		logSD[j] = -math.Log(exact) / 2
		varDP[j] = 1/precision - 1/exact
	})
}
