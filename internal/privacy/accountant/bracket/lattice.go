package bracket

import (
	"maps"
	"math"
	"slices"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// Lattice is P-mass on the points origin + (first+i)h. infinity is P-mass at
// infinite loss; mass that was dropped is in neither.
type Lattice struct {
	H, origin float64
	first     int
	Mass      []float64
	infinity  float64
	dropped   float64
	noise     func(theta, h float64) float64 // as that of the pair
	relative  float64                        // as that of the pair
	// partial: the masses are not near 1 in sum, because the lattice holds a
	// part of the outcomes or because they are tilted already, by e^{tilt L}
	// and divided by e^{logZ}.
	Partial    bool
	tilt, logZ float64
	// moment, when set, is logMoment of the measure that the masses are
	// computed from: that of the masses would be that of their rounding errors
	moment func(theta float64) float64
}

// dominating spreads every cell over its two ends with P-mass and Q-mass
// kept, so that the pair is a post-processing of the lattice ("connect the
// dots", Doroshenko et al. 2022, arXiv:2207.04380): δ of the lattice is an
// upper bound, also after composition.
func (c *cells) dominating() *Lattice {
	l := &Lattice{H: c.h, origin: c.origin, first: c.first, Mass: make([]float64, len(c.mass)+1), infinity: c.above, dropped: c.missing, noise: c.noise, relative: c.relative, Partial: c.partial}
	for i, m := range c.mass {
		l.Mass[i] += m - c.right[i]
		l.Mass[i+1] += c.right[i]
	}
	for _, i := range slices.Sorted(maps.Keys(c.onGrid)) { // neighbours add to one point: the order is in the last bit
		l.Mass[i] += c.onGrid[i] - c.raised[i]
		l.Mass[i+1] += c.raised[i]
	}
	l.Mass[0] += c.below // losses raised
	return l
}

// tilted returns e^{θL} mass, normalised, and the normaliser.
func (l *Lattice) tilted(theta float64) (weights []float64, z normaliser) {
	weights = make([]float64, len(l.Mass))
	z = l.EachTilted(theta, func(i int, w float64) { weights[i] = w })
	var scale numeric.Sum
	for _, w := range weights {
		scale.Add(w)
	}
	all := scale.Value()
	for i := range weights {
		weights[i] /= all
	}
	return weights, z
}

// logMoment is an upper bound on log E[e^{θL}; L finite and not dropped], above it by
// rounding at most.
func (l *Lattice) logMoment(theta float64) float64 {
	if l.moment != nil {
		return l.moment(theta)
	}
	z := l.EachTilted(theta, func(int, float64) {})
	return z.Log + z.Doubt
}

// normaliser is the divisor of tilting, with the rounding errors of it and of the tilted
// masses. A mass is wrong by at most 24u(1 + A) relatively, A the largest |θ|(|origin| +
// |i h|): six roundings of the exponent, two of that of a block's step, and 11u of growing,
// a product, a compensated sum, a quotient.
type normaliser struct {
	Log      float64
	Doubt    float64 // error of log, at most
	relative float64 // relative error of a normalised tilted mass, at most
}

// EachTilted calls f with the index and the unnormalised tilted mass of every
// point, up to a common factor, and returns the normaliser.
func (l *Lattice) EachTilted(theta float64, f func(i int, w float64)) normaliser {
	theta -= l.tilt
	at := func(i int) float64 { return theta * (l.origin + float64(l.first+i)*l.H) }
	// the exponent at(i) is wrong by at most 6u size(i)
	size := func(i int) float64 { return math.Abs(theta) * (math.Abs(l.origin) + math.Abs(float64(l.first+i))*l.H) }
	last := len(l.Mass) - 1
	largest := math.Max(size(0), size(last))
	z := normaliser{relative: 24 * numeric.Unit * (1 + largest)}
	top := math.Max(at(0), at(last))
	var sum numeric.Sum
	var wrong, changed float64 // of nonnegative terms, so that their rounding does not matter
	step := growth(theta * l.H)
	if top <= numeric.SafeExponent && !l.Partial {
		for i, m := range l.Mass {
			e := step.expm1(i, at)
			sum.Add(m * e)
			changed += m * math.Abs(e)
			wrong += m * size(i) * (1 + e)
			w := m * (1 + e)
			if e < -0.5 { // where 1 + e loses digits
				w = m * math.Exp(at(i))
			}
			f(i, w)
		}
		excess := sum.Value() - l.infinity - l.dropped
		if excess > -0.5 { // else 1 + excess has lost digits
			z.Log = math.Log1p(excess)
			// 11u of growing, 4u of its exponents, 3u of operations
			wrong += 3*changed + l.infinity + math.Abs(l.dropped) + math.Abs(excess)
			z.Doubt = 8*numeric.Unit*(wrong/(1+excess)+math.Abs(z.Log)) + massError*changed/(1+excess)
			return z
		}
		sum, wrong = numeric.Sum{}, 0
	}
	step.start = -1
	below := func(i int) float64 { return at(i) - top }
	for i, m := range l.Mass {
		w := 0.0
		if m > 0 {
			w = m * step.exp(i, below)
			wrong += w * (2 + size(i) + top - at(i))
		}
		sum.Add(w)
		f(i, w)
	}
	z.Log = l.logZ + top + math.Log(sum.Value())
	z.Doubt = 8*numeric.Unit*(wrong/sum.Value()+math.Abs(l.logZ)+math.Abs(top)+math.Abs(z.Log)) + massError
	return z
}

// onLattice puts a pair on a lattice that dominates it or is dominated by it.
func onLattice(p *pairs.Pair, h, floor, tail, theta float64, up bool) *Lattice {
	return discretise(p, h, floor, tail).lattice(p.Ceiling, theta, up)
}

// lattice is the one that dominates, or the one that is dominated, best under the tilt.
func (c *cells) lattice(ceiling bool, theta float64, up bool) *Lattice {
	if up {
		return c.dominating()
	}
	return c.dominated(ceiling, theta)
}
