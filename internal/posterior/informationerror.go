package posterior

import "math"

// capPooled bounds the information h (P) that coordinates were given by pooling.
// The effects of one scale keep it. Any other coordinate keeps at most its own
// estimate plus one standard error: a level with few records is not as well known
// as its neighbours. Some coordinates get no gradient from any simulated record,
// such as the effect of a missing value; moved is false there. For those we keep
// only the part of the estimate that is significant at 5 % (one-sided).
func (c *curvature) capPooled(h []float64, moved []bool, scales []scale) {
	isEffect := effectsOf(scales, len(h))
	for j := range h {
		switch own, v := c.estimate(j); {
		case !moved[j]:
			h[j] = math.Max(0, own-1.6449*math.Sqrt(v))
		case !isEffect[j]:
			h[j] = math.Min(h[j], math.Max(0, own+math.Sqrt(v)))
		}
	}
}

// certainFraction is the fraction of the information h (P) of every coordinate that,
// if it were known exactly, would give the coordinate the same variance given all
// others:
//
//	1/variance = λ + x²/(x + v̄),  x = fraction·h.
//
// So the joint normal includes the error of the measured curvature. The fraction is 1
// for the effects of a scale, whose information is pooled and whose error is in
// the scale's posterior. It leaves out the distance between a coordinate's own
// posterior mean and the end of the fit: coordinates that share what they explain
// would each go all of the way for all of them.
func (c *curvature) certainFraction(h []float64, scales []scale) []float64 {
	fraction, noise, isEffect := make([]float64, len(h)), c.noiseOfMean(), effectsOf(scales, len(h))
	c.each(func(j int, own, v, lambda float64) {
		fraction[j] = 1
		prior := math.Max(lambda, c.floor[j])
		_, variance := measurement{h: own, v: v, noise: noise, lambda: prior}.posterior()
		known := math.Max(0, 1/variance-prior) // κh
		if h[j] > 0 && !isEffect[j] {
			fraction[j] = math.Min(1, (known+math.Sqrt(known*known+4*known*noise))/(2*h[j]))
		}
	})
	return fraction
}
