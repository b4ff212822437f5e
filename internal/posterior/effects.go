package posterior

import "math"

// effects are the coordinates φ in which the likelihood is nearly linear: φ is θ but
// for the effects of a scale. The likelihood depends on their products with the scale,
// so their φ is that product, in units of the scale at an origin, and the φ of the
// scale is constant.
type effects struct {
	scales []scale
	origin []float64 // P
}

// factor is the scale s at theta in units of that at the origin.
func (e effects) factor(s scale, theta []float64) float64 {
	return math.Exp(theta[s.at] - e.origin[s.at])
}

// phi sets dst (P) to φ at theta.
func (e effects) phi(dst, theta []float64) {
	copy(dst, theta)
	for _, s := range e.scales {
		factor := e.factor(s, theta)
		dst[s.at] = e.origin[s.at]
		for _, j := range s.effects {
			dst[j] *= factor
		}
	}
}

// pull turns a gradient in θ at theta, of a function of φ, into that in φ.
func (e effects) pull(gradient, theta []float64) {
	for _, s := range e.scales {
		factor := e.factor(s, theta)
		gradient[s.at] = 0
		for _, j := range s.effects {
			gradient[j] /= factor
		}
	}
}

// push is the reverse of pull at φ.
func (e effects) push(gradient, theta, phi []float64) {
	for _, s := range e.scales {
		factor := e.factor(s, theta)
		gradient[s.at] = 0
		for _, j := range s.effects {
			gradient[s.at] += gradient[j] * phi[j]
			gradient[j] *= factor
		}
	}
}
