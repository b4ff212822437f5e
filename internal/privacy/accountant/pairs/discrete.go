package pairs

import "math"

// MaxDiscreteSigma bounds the number of atoms of a discrete Gaussian.
const MaxDiscreteSigma = 1 << 15

// NewDiscrete is discrete Gaussian noise, P(k) proportional to
// e^{-k²/(2σ²)}, against the same shifted by the integer d.
func NewDiscrete(sigma float64, d int) *Pair {
	reachable := int(math.Ceil(Reach * sigma))
	shift := float64(d)
	p := &Pair{End: math.Inf(-1)}
	sum := 0.0
	for k := reachable; k >= -reachable; k-- {
		x := float64(k)
		m := math.Exp(-x * x / (2 * sigma * sigma))
		sum += m
		p.Atoms = append(p.Atoms, Atom{(shift*shift - 2*x*shift) / (2 * sigma * sigma), m})
	}
	for i := range p.Atoms {
		p.Atoms[i].Mass /= sum
	}
	return p
}

// NewBlackBox is randomised response, which dominates every (ε, 0) step. The
// δ of an (ε, δ) step is kept apart by the accountant.
func NewBlackBox(epsilon float64) *Pair {
	small := math.Exp(-epsilon) / (1 + math.Exp(-epsilon))
	return &Pair{End: math.Inf(-1), Atoms: []Atom{{epsilon, 1 - small}, {-epsilon, small}}}
}
