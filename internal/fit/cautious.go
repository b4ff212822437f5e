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
// variance of post, before it is a joint normal, is that of a known information:
//
//	1/variance = λ + x²/(x + v̄),  x = part·h,
//
// so that what locate allows for a curvature that is not known stays in the joint
// normal. It is 1 for the effects of scales, whose information is pooled and which
// the scale's posterior is about.
func (c *curvature) believed(post *Posterior, h []float64, scales []scale) []float64 {
	part, noise, alike := make([]float64, len(h)), c.noiseOfMean(), effectsOf(scales, len(h))
	c.each(func(j int, _, _, lambda float64) {
		part[j] = 1
		known := 1/(math.Exp(2*post.LogSD[j])+post.VarDP[j]) - math.Max(lambda, c.floor[j]) // κh
		if known = math.Max(0, known); h[j] > 0 && !alike[j] {
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
