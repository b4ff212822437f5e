package posterior

import "math"

// settledAfter is the number of the optimizer's time constants after which a
// coordinate counts as settled: exp(−4) of its distance from the start is left.
const settledAfter = 4

// minNewton is the signal μN from which Newton steps are taken: below it the gradients
// show too little of their direction. A joint normal takes none, because coordinates that
// share an effect would each move all of the way: that costs a hierarchical model 0.009
// of test AUC at N = 500 and ε = 1.
const minNewton = 200.0

// locate gives every coordinate of a mean-field posterior its LogSD and VarDP by
// all released gradients together: VarDP is the mean squared distance of θ from the
// mean under the local posterior, less what it would be without noise. With move, a
// coordinate that has not settled while averaging, in precision·Σ gain time
// constants, takes the local posterior's mean.
func (c *curvature) locate(post *Posterior, move bool) {
	weight := c.Totals[0]
	noise := c.noiseOfMean()
	c.each(func(j int, h, v, lambda float64) {
		exact := 1 / c.precision(j, h, lambda)
		at, variance := measurement{
			h: h, v: v, slope: c.LikelihoodSlope[j] / weight, noise: noise, batches: c.batches,
			lambda: math.Max(lambda, c.floor[j]), prior: c.PriorSlope[j] / weight,
		}.posterior()
		variance = c.unresolved(j, math.Max(lambda, c.floor[j]), variance)
		if !isPositive(exact) || !isPositive(variance) {
			return
		}
		at += c.Place[j] / weight
		if move && c.Gain[j] < settledAfter*exact {
			post.Mean[j] = at
		}
		total := variance + (at-post.Mean[j])*(at-post.Mean[j])
		exact = math.Min(exact, total)
		post.LogSD[j], post.VarDP[j] = math.Log(exact)/2, total-exact
	})
	copy(post.Lambda[len(post.Mean):], post.LogSD) // Mean is the first half of Lambda
	if m := post.Plan.Model(); m != nil && c.wrong > 0 {
		square := func(k int) float64 {
			return post.Mean[k]*post.Mean[k] + math.Exp(2*post.LogSD[k]) + post.VarDP[k]
		}
		eachCenter(m, square, func(v float64, direction []float64) {
			for j, x := range direction {
				post.VarDP[j] += v * x * x
			}
		})
	}
}

func isPositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// measurement is the information of released gradients about one coordinate near θ̄, the
// mean of the places of the releases.
type measurement struct {
	h, v          float64 // the likelihood's curvature, at least 0, and the variance of that estimate
	slope, noise  float64 // the likelihood's mean gradient at θ̄, and the variance of its noise
	batches       float64 // k of Plan.BatchVariance
	lambda, prior float64 // the prior's curvature and its mean gradient at θ̄
}

// curvatures is the number of curvatures that posterior averages over, within
// reach standard deviations of the estimate.
const curvatures, reach = 33, 4.0

// posterior is the mean, as a distance from θ̄, and the variance of a normal model.
// For known h the mean released gradient, −h(θ̄ − θ*) + noise, is a noisy
// measurement of the likelihood's mode θ* with precision κh, κ = h/((1 + k)h + noise),
// instead of h without noise:
//
//	precision λ + κh,  mean θ̄ + (prior + κ·slope)/(λ + κh).
//
// h itself is known to ±√v only, and an h that is too large by chance makes an
// interval too narrow. So both are averaged over h ~ N(ĥ, v), h ≥ 0.
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
			kappa = h / (h*(1+m.batches) + m.noise)
		}
		precision := m.lambda + kappa*h
		at := (m.prior + kappa*m.slope) / precision
		weights, first, second = weights+w, first+w*at, second+w*(at*at+1/precision)
	}
	mean = first / weights
	return mean, second/weights - mean*mean
}
