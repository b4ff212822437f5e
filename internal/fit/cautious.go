package fit

import "math"

// beCautious bounds the pooled information h (P) of coordinates that are not
// alike, as the effects of one scale are: a level that few records have is not as
// well known as its neighbours. Theirs is at most their own estimate and its
// standard error. What no invented record moves, as the effect of missing values,
// may be known of no record at all: of that only what is significant at 5 %, one
// side, is believed.
func (c *curvature) beCautious(h []float64, moved []bool, scales []scale) {
	alike := effectsOf(scales, len(h))
	for j := range h {
		switch own, v := c.estimate(j); {
		case !moved[j]:
			h[j] = math.Max(0, own-1.6449*math.Sqrt(v))
		case !alike[j]:
			h[j] = math.Min(h[j], math.Max(0, own+math.Sqrt(v)))
		}
	}
}

// believed is the part of the information h (P) of every coordinate with which the
// variance of its posterior, given all others, is that of a known information:
//
//	1/variance = λ + x²/(x + v̄),  x = part·h,
//
// so that what a curvature that is not known adds to a variance is in the joint
// normal. It is 1 for the effects of scales, whose information is pooled and which
// the scale's posterior is about. How far a coordinate's own posterior mean is from
// where the fit ended is not in it: where coordinates share what they explain, each
// would go all of the way for all of them.
func (c *curvature) believed(h []float64, scales []scale) []float64 {
	part, noise, alike := make([]float64, len(h)), c.noiseOfMean(), effectsOf(scales, len(h))
	c.each(func(j int, own, v, lambda float64) {
		part[j] = 1
		prior := math.Max(lambda, c.floor[j])
		_, variance := measurement{h: own, v: v, noise: noise, lambda: prior}.posterior()
		known := math.Max(0, 1/variance-prior) // κh
		if h[j] > 0 && !alike[j] {
			part[j] = math.Min(1, (known+math.Sqrt(known*known+4*known*noise))/(2*h[j]))
		}
	})
	return part
}

// effectsOf reports of each of latent coordinates whether a scale multiplies it.
func effectsOf(scales []scale, latent int) []bool {
	list := make([]bool, latent)
	for _, s := range scales {
		for _, j := range s.effects {
			list[j] = true
		}
	}
	return list
}
