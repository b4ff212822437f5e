package fit

import "math"

// Of the averaged iterates' distance to where they started, less than
// exp(−relaxed) is left after that many time constants of the optimizer.
const relaxed = 4

// minNewton is the signal μN from which Newton steps are taken: below it the
// gradients say too little of where they lead. None are taken where a joint normal
// shows what coordinates share: each would go all of the way for all of them, which
// cost a hierarchical model 0.009 of test AUC at N = 500 and ε = 1.
const minNewton = 200.0

// locate sets, for every coordinate of mean (P), the posterior's logSD and varDP
// (P) by what all released gradients say of it together: varDP is the mean squared
// distance of θ from mean under the local posterior, less what it would be without
// noise. With move, coordinates that the optimizer had no time to settle in, which
// are known by the time constants that passed while averaging, precision·Σ gain,
// take the local posterior's mean instead of their own.
func (c *curvature) locate(mean, logSD, varDP []float64, move bool) {
	weight := c.Totals[0]
	noise := c.noiseOfMean()
	c.each(func(j int, h, v, lambda float64) {
		exact := 1 / c.precision(j, h, lambda)
		at, variance := measurement{
			h: h, v: v, slope: c.LikelihoodSlope[j] / weight, noise: noise,
			lambda: math.Max(lambda, c.floor[j]), prior: c.PriorSlope[j] / weight,
		}.posterior()
		if !isPositive(exact) || !isPositive(variance) {
			return
		}
		at += c.Place[j] / weight
		if move && c.Gain[j] < relaxed*exact {
			mean[j] = at
		}
		total := variance + (at-mean[j])*(at-mean[j])
		exact = math.Min(exact, total)
		logSD[j], varDP[j] = math.Log(exact)/2, total-exact
	})
}

// measurement is what released gradients say of one coordinate near the mean θ̄ of
// the places where they were released.
type measurement struct {
	h, v          float64 // the likelihood's curvature, at least 0, and the variance of that estimate
	slope, noise  float64 // the likelihood's mean gradient at θ̄, and the variance of its noise
	lambda, prior float64 // the prior's curvature and its mean gradient at θ̄
}

// curvatures is the number of curvatures that posterior averages over, within
// reach standard deviations of the estimate.
const curvatures, reach = 33, 4.0

// posterior is the mean, as a distance from θ̄, and the variance of a normal model.
// For known h the mean released gradient, −h(θ̄ − θ*) + noise, is a noisy
// measurement of the likelihood's mode θ* with precision κh, κ = h/(h + noise),
// instead of the h that it has without noise, so that
//
//	precision λ + κh,  mean θ̄ + (prior + κ·slope)/(λ + κh).
//
// h itself is known to ±√v only, and an h that is too large by chance makes an
// interval too narrow; both are averaged over h ~ N(ĥ, v), h ≥ 0.
func (m measurement) posterior() (mean, variance float64) {
	var weights, first, second float64
	for k := range curvatures {
		z := reach * (2*float64(k)/(curvatures-1) - 1)
		h := m.h + z*math.Sqrt(m.v)
		if h < 0 {
			continue
		}
		w := math.Exp(-z * z / 2)
		kappa := 1.0
		if m.noise > 0 {
			kappa = h / (h + m.noise)
		}
		precision := m.lambda + kappa*h
		at := (m.prior + kappa*m.slope) / precision
		weights, first, second = weights+w, first+w*at, second+w*(at*at+1/precision)
	}
	mean = first / weights
	return mean, second/weights - mean*mean
}

func isPositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
