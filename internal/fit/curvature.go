package fit

import (
	"math"

	"d3p/internal/simd"
)

// curvature estimates the diagonal of the negative Hessian of the log posterior
// from released gradients and gives the scales of a mean-field guide by it:
// s⁻² = E_q[−∂²log p(θ, data)] is where the variational bound is stationary.
//
// A coordinate that the records say little about has a large s, and the noisy
// gradient s·η·g + 1 of its log s then is nearly all noise: log s wanders by
// about sτ/(2√T), which is 1 for the group effects of a model of 60 groups at
// ε = 1, and intervals are wrong by such factors. The estimate uses every step
// and borrows strength among the coordinates of one parameter.
//
// With d = θ − m and likelihood gradient g, both of step t, and noise variance
// τ² of g, weighted least squares of g on −d gives
//
//	h = Σ w·d·(−g) / Σ w·d²,  v = Σ w²τ²d² / (Σ w·d²)²,  w = t
//
// (Stein's identity: E[−d·g] = s²·E_q[−∂²]); early steps, far from the mode,
// weigh less. Within a parameter the h, in units of what invented records tell
// where the model can invent any, are shrunk to their common mean by the
// random-effects estimate of DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2,
// then to 1, see believedRatio, or else cut off below 0: log-concave likelihoods have
// no negative curvature. The prior's gradient has no noise; its curvature λ is
// estimated with the same weights.
type curvature struct {
	sizes []int     // coordinates of each parameter, in order; they add up to P
	floor []float64 // 1/variance under the prior, shape (P); the posterior is taken to be no wider
	// expected is the information that invented records have, shape (P); nil, or 0 in a
	// coordinate, where that is not known.
	expected []float64
	// coefficients are the coordinates that are known with it to be real-valued and no
	// effects of a scale, shape (P).
	coefficients []bool

	Totals []float64 `json:"totals"` // Σ w and Σ w²τ²

	// The others have shape (P).
	Likelihood      []float64 `json:"likelihood"`       // Σ w·d·(−g)
	Prior           []float64 `json:"prior"`            // the same of the prior's gradient
	Square          []float64 `json:"square"`           // Σ w·d²
	Noise           []float64 `json:"noise"`            // Σ w²τ²d²
	Place           []float64 `json:"place"`            // Σ w·θ
	LikelihoodSlope []float64 `json:"likelihood_slope"` // Σ w·g
	PriorSlope      []float64 `json:"prior_slope"`      // the same of the prior's gradient
	Gain            []float64 `json:"gain"`             // Σ of the optimizer's gain over the averaged steps
}

// newCurvature has seen no step. Without sizes every coordinate stands alone.
func newCurvature(latent int, sizes []int) curvature {
	if sizes == nil {
		sizes = make([]int, latent)
		for j := range sizes {
			sizes[j] = 1
		}
	}
	c := curvature{sizes: sizes, floor: make([]float64, latent)}
	for _, a := range c.arrays() {
		*a = make([]float64, latent)
	}
	c.Totals = make([]float64, 2)
	return c
}

// arrays are the state, in the order in which the steps ahead of a device keep it.
func (c *curvature) arrays() []*[]float64 {
	return []*[]float64{
		&c.Totals, &c.Likelihood, &c.Prior, &c.Square, &c.Noise, &c.Place, &c.LikelihoodSlope, &c.PriorSlope, &c.Gain,
	}
}

// curvatureWeight is w of step t (from 0).
func curvatureWeight(t int) float64 { return float64(t + 1) }

// An observation is what step T (from 0) tells: θ, d = θ − m, the released
// likelihood gradient and the prior's, each of shape (P); NoiseSD is τ > 0.
type observation struct {
	Theta, D, Likelihood, Prior []float64
	T                           int
	NoiseSD                     float64
}

// begin counts a step.
func (c *curvature) begin(o observation) {
	w := curvatureWeight(o.T)
	c.Totals[0] += w
	c.Totals[1] += w * w * o.NoiseSD * o.NoiseSD
}

// observe adds coordinates low <= j < high of a step.
func (c *curvature) observe(o observation, low, high int, s *scratch) {
	w, variance := curvatureWeight(o.T), o.NoiseSD*o.NoiseSD
	for lo := low; lo < high; lo += block {
		hi := min(lo+block, high)
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
			simd.MulScalar(term, sum.of, w)
			simd.Add(sum.to[lo:hi], sum.to[lo:hi], term)
		}
	}
}

// relax adds the optimizer's gain of coordinates low <= j < high in an averaged step.
func (c *curvature) relax(gain []float64, low, high int) {
	simd.Add(c.Gain[low:high], c.Gain[low:high], gain[low:high])
}

// noiseOfMean is v̄, the variance of the noise in each entry of the mean gradient.
func (c *curvature) noiseOfMean() float64 { return c.Totals[1] / (c.Totals[0] * c.Totals[0]) }

// estimate is h and its variance v of coordinate j.
func (c *curvature) estimate(j int) (h, v float64) {
	return c.Likelihood[j] / c.Square[j], c.Noise[j] / (c.Square[j] * c.Square[j])
}

// each calls use with the pooled h ≥ 0, its variance v and λ of every coordinate.
func (c *curvature) each(use func(j int, h, v, lambda float64)) {
	first := 0
	for _, size := range c.sizes {
		mean, ofMean, between := c.pool(first, first+size)
		for j := first; j < first+size; j++ {
			h, v := c.ratio(j)
			if size > 1 {
				own := between / (between + v) // the weight of the coordinate's own estimate
				h, v = mean+(h-mean)*own, v*own+(1-own)*(1-own)*ofMean
			}
			if c.isExpected(j) {
				h, v = believedRatio(h, v, c.spread(j))
			}
			unit := c.unit(j)
			use(j, math.Max(0, h)*unit, v*unit*unit, c.Prior[j]/c.Square[j])
		}
		first += size
	}
}

// precision is h + λ of coordinate j, or that of the whole prior where it is
// larger: the tail of a prior has little curvature.
func (c *curvature) precision(j int, h, lambda float64) float64 {
	return math.Max(h+lambda, c.floor[j])
}

// pool is the mean of the ratios of coordinates lo ≤ j < hi, at least 0, the
// variance of that mean, and their variance beyond what the noise explains.
func (c *curvature) pool(lo, hi int) (mean, ofMean, between float64) {
	var weights, squares, sum float64 // of w = 1/v: Σ w, Σ w², Σ w·h
	for j := lo; j < hi; j++ {
		h, v := c.ratio(j)
		weights, squares, sum = weights+1/v, squares+1/(v*v), sum+h/v
	}
	mean = sum / weights
	spread := 0.0
	for j := lo; j < hi; j++ {
		h, v := c.ratio(j)
		spread += (h - mean) * (h - mean) / v
	}
	if hi-lo > 1 {
		between = math.Max(0, (spread-float64(hi-lo-1))/(weights-squares/weights))
	}
	weights, sum = 0, 0
	for j := lo; j < hi; j++ {
		h, v := c.ratio(j)
		weights, sum = weights+1/(v+between), sum+h/(v+between)
	}
	return math.Max(0, sum/weights), 1 / weights, between
}
