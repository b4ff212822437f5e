package accountant

import "math"

// maxDiscreteSigma bounds the number of atoms of a discrete Gaussian.
const maxDiscreteSigma = 1 << 15

// discreteGaussianPair is discrete Gaussian noise, P(k) proportional to
// e^{-k²/(2σ²)}, against the same shifted by the integer d.
func discreteGaussianPair(sigma float64, d int) *pair {
	reachable := int(math.Ceil(reach * sigma))
	shift := float64(d)
	p := &pair{end: math.Inf(-1)}
	sum := 0.0
	for k := reachable; k >= -reachable; k-- {
		x := float64(k)
		m := math.Exp(-x * x / (2 * sigma * sigma))
		sum += m
		p.atoms = append(p.atoms, atom{(shift*shift - 2*x*shift) / (2 * sigma * sigma), m})
	}
	for i := range p.atoms {
		p.atoms[i].mass /= sum
	}
	return p
}

// blackBoxPair is randomised response, which dominates every (ε, 0) step. The
// δ of an (ε, δ) step is kept apart (direction.noDP).
func blackBoxPair(epsilon float64) *pair {
	small := math.Exp(-epsilon) / (1 + math.Exp(-epsilon))
	return &pair{end: math.Inf(-1), atoms: []atom{{epsilon, 1 - small}, {-epsilon, small}}}
}
