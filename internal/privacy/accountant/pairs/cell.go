package pairs

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// Cell is the P-mass of the outcomes from a to b, and ∫ P - e^base Q over them. With
// `from` base is the loss at a.
func (p *Piece) Cell(a, b, base float64, from bool) (mass, excess float64) {
	if from && p.ratio != nil {
		if mass, excess, ok := p.ratio.cell(a, b, p.Width); ok {
			return mass, excess
		}
	}
	p.Integrate(a, b, func(l, m float64) {
		mass += m
		excess -= m * math.Expm1(base-l)
	})
	return mass, excess
}

// densityRatio has the densities P(x) = N(x; 0, s²) r(x) and Q(x) = N(x; 0, s²) r(-x) of a
// sampled Gaussian, r(x) = 1-q + q e^{(2x-1)/(2s²)}. Without `above` the factor r(x) is 1
// in P, without `below` r(-x) is 1 in Q.
type densityRatio struct {
	subsampled
	above, below bool
}

// cell is Piece.Cell within one panel; ok is false where the outcomes need more or a factor
// leaves the range of a float64.
//
// With L(a) = base, P - e^base Q is
//
//	N(x; 0, s²) [(r(x) - r(a)) + r(a)/r(-a) (r(-a) - r(-x))],
//
// a sum of positive terms that needs no logarithm: r(x) - r(a) = q e^{y(a)} (e^{(x-a)/s²} - 1).
func (g *densityRatio) cell(a, b, panel float64) (mass, excess float64, ok bool) {
	const safe = 600
	variance := g.s * g.s
	z, y, mirrored := a/g.s, (2*a-1)/(2*variance), (-2*a-1)/(2*variance)
	if b-a > panelShare*panel || z*z > 2*safe || y > safe || mirrored > safe {
		return 0, 0, false
	}
	ratio, slope, weight := 1.0, 0.0, 0.0 // r(a), q e^{y(a)} and r(a)/r(-a) q e^{y(-a)}
	if g.above {
		e := math.Exp(y)
		ratio, slope = 1-g.q+g.q*e, g.q*e
	}
	if g.below {
		e := math.Exp(mirrored)
		weight = ratio * g.q * e / (1 - g.q + g.q*e)
	}
	rule := gaussRule(b-a, panel)
	width := b - a
	for j, u := range rule.X {
		t := u * width
		grown := numeric.Expm1(t / variance)
		density := rule.W[j] * numeric.Exp(-t*(a+t/2)/variance)
		mass += density * (ratio + slope*grown)
		excess += density * (slope*grown + weight*grown/(1+grown))
	}
	scale := width * math.Exp(-0.5*z*z-numeric.LogSqrt2Pi) / g.s
	return scale * mass, scale * excess, true
}

// atEnd is ∫ P and ∫ e^end Q - P over the piece, `end` being where the support of the loss
// of a sampled Gaussian ends; ok is false where differences of tails lose digits.
func (p *Piece) atEnd() (mass, excess float64, ok bool) {
	g := p.ratio
	if g == nil || g.above == g.below {
		return 0, 0, false
	}
	lo, hi := p.Lo/g.s, p.Hi/g.s
	shift := 1 / g.s
	if g.below { // mirrored: the loss ends on the right
		lo, hi = -hi, -lo
	}
	none, one := numeric.NormalTail(-hi)-numeric.NormalTail(-lo), numeric.NormalTail(shift-hi)-numeric.NormalTail(shift-lo)
	if none < leastDifference*numeric.NormalTail(-hi) || one < leastDifference*numeric.NormalTail(shift-hi) {
		return 0, 0, false
	}
	if g.below {
		return none, g.q / (1 - g.q) * one, true
	}
	return (1-g.q)*none + g.q*one, -g.q * one, true
}

// leastDifference of two tails, relative to the larger, keeps 13 digits.
const leastDifference = 1e-2
