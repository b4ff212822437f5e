package fit

import "math"

// beCautious bounds the pooled information h (P) of coordinates that are not
// alike, as the effects of one scale are: a level that few records have is not as
// well known as its neighbours. Theirs is at most their own estimate and its
// standard error. What no invented record moves, as the effect of missing values,
// may be known of no record at all: of that only what is significant at 5 %, one
// side, is believed.
func (c *curvature) beCautious(h []float64, moved []bool, scales []scale) {
	alike := make([]bool, len(h))
	for _, s := range scales {
		for _, j := range s.effects {
			alike[j] = true
		}
	}
	for j := range h {
		switch own, v := c.estimate(j); {
		case !moved[j]:
			h[j] = math.Max(0, own-1.6449*math.Sqrt(v))
		case !alike[j]:
			h[j] = math.Min(h[j], math.Max(0, own+math.Sqrt(v)))
		}
	}
}
