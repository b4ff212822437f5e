package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/pairs"
)

// A sum of losses is divided by its large losses, with limits l_0 < l_1 < ...:
//
//	δ(ε) = δ(ε; none above l_0) + Σ_j δ(ε; some above l_{j-1}, none above l_j),
//
// where the last limit is infinite (Limits). Each term of the sum is divided further, by the first
// part that has a loss above l_{j-1}. Below is the first term, Band one of the others, and
// LossSum adds up their bounds.

// Limits are first, first·ratio, and so on below the highest loss that matters, and infinity.
func Limits(first, ratio, highest float64) (limits []float64) {
	limits = append(limits, first)
	for l := first * ratio; l < highest; l *= ratio {
		limits = append(limits, l)
	}
	return append(limits, math.Inf(1))
}

// Below is the sum without losses above the limit.
func (d *Losses) Below(limit float64) *Losses {
	rest := &Losses{Mu2: d.Mu2}
	for _, p := range d.Parts {
		p.Pair = p.Pair.Below(limit)
		rest.Parts = append(rest.Parts, p)
	}
	return rest
}

// Band returns the factors of one term: the part with the index, and all others, Gaussian
// steps last and whole. In the term the part has at least one loss above the lower limit, the
// parts before it have none there, and no part has one above the upper limit. A part without
// losses above the lower limit has no band.
func (d *Losses) Band(index int, lower, upper float64) (part pairs.Part, others []Other) {
	for i, p := range d.Parts {
		limit := upper
		if i < index {
			limit = lower
		}
		p.Pair = p.Pair.Below(limit)
		if i == index {
			part = p
			continue
		}
		others = append(others, Other{Part: p})
	}
	if d.Mu2 > 0 {
		others = append(others, Other{Part: pairs.Part{Count: 1, Pair: pairs.NewGaussian(math.Sqrt(d.Mu2))}})
	}
	return part, others
}

// LossSum is a sum of contributions to δ(ε), the first with the stretch.
type LossSum []Composed

func (a LossSum) Stretch() (start, end, h float64) { return a[0].Stretch() }

func (a LossSum) Upper(epsilon float64) float64 {
	sum := 0.0
	for _, c := range a {
		sum += c.Upper(epsilon)
	}
	return sum
}

func (a LossSum) Lower(epsilon float64) float64 {
	sum := 0.0
	for _, c := range a {
		sum += c.Lower(epsilon)
	}
	return sum
}

// ChernoffTerm is a contribution to δ(ε) that is only bounded: from above by
// e^{logM-θε} and the mass of the tails, from below by 0.
type ChernoffTerm struct{ Theta, LogM, Infinity float64 }

func (t ChernoffTerm) Upper(epsilon float64) float64 {
	return math.Exp(t.LogM-t.Theta*epsilon)*(1+1e-9) + t.Infinity
}
func (t ChernoffTerm) Lower(float64) float64            { return 0 }
func (t ChernoffTerm) Stretch() (start, end, h float64) { return 0, math.Inf(1), 0 }
