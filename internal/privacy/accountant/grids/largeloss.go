package grids

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
)

// largeLosses separates single losses that are so large and rare that no tilt serves both
// them and the sum of all others, as bracket.Losses.Band divides them. Each term has its
// own tilt and grids.
type largeLosses struct {
	without *Refiner        // none above l_0
	up, lo  bracket.LossSum // the other terms
}

const (
	// poorLogShare is the log of the share of the tilted mass that decides, of
	// what Chernoff's bound allows, at which a tilt is taken to be poor
	poorLogShare = -6
	// firstLimit is l_0 and bandRatio l_j/l_{j-1}, in units of ε
	firstLimit = 1.4
	bandRatio  = 2.5
	// mostLarge is the largest expected number of large losses: more are not rare
	mostLarge = 3
	// fewLarge is the largest expected number of large losses for which the first limit is
	// raised if the sum of all others spreads further
	fewLarge = 0.004
	// maxLargeLossParts is the largest number of parts whose large losses are separated
	maxLargeLossParts = 6
)

// separable reports whether large losses can be composed apart near ε: there are few parts,
// and those with large losses have densities.
func (b *Refiner) separable(epsilon float64) bool {
	for _, p := range b.Parts {
		if p.Pair.Lower != nil {
			return false
		}
		if !p.Pair.Smooth {
			if _, highest := p.Pair.Span(math.Inf(-1), 0); highest > firstLimit*epsilon {
				return false
			}
		}
	}
	return len(b.Parts) > 0 && len(b.Parts) <= maxLargeLossParts
}

// withoutLargeLosses is the direction without losses above the limit.
func (b *Refiner) withoutLargeLosses(limit float64) (*bracket.Losses, *bracket.Composition) {
	d := b.Losses.Below(limit)
	return d, d.Compose(b.Tail, 1)
}

// above is about the contribution to δ(ε) of single losses above the limit.
func (b *Refiner) above(limit, epsilon float64) float64 {
	sum := 0.0
	for i := range b.C.Nodes {
		n := &b.C.Nodes[i]
		for j, l := range n.Loss {
			if l > limit && l > epsilon {
				sum -= n.Count * n.Mass[j] * math.Expm1(epsilon-l)
			}
		}
	}
	return sum
}

// expected is about the number of losses above the limit.
func (b *Refiner) expected(limit float64) float64 {
	sum := 0.0
	for i := range b.C.Nodes {
		n := &b.C.Nodes[i]
		for j, l := range n.Loss {
			if l > limit {
				sum += n.Count * n.Mass[j]
			}
		}
	}
	return sum
}

// spread is the standard deviation of the sum of all losses but those above the limit.
func (b *Refiner) spread(limit float64) float64 {
	_, c := b.withoutLargeLosses(limit)
	_, variance := c.Moments(0)
	return math.Sqrt(variance)
}

// separate finds the large losses near the answer ε, where δ(ε) is about delta and is
// wanted to the tolerance; nil when there are none or when the tilt is not poor: what decides
// has more than e^poor of what Chernoff's bound allows.
func (b *Refiner) separate(epsilon, delta, tolerance, poor float64) *largeLosses {
	limit := firstLimit * epsilon
	if b.logShare > poor || !(epsilon > 0) || !b.separable(epsilon) {
		return nil
	}
	for b.spread(limit) > limit && b.expected(limit) > fewLarge {
		limit *= bandRatio
	}
	if b.expected(limit) > mostLarge {
		return nil
	}
	d, c := b.withoutLargeLosses(limit)
	theta, logBound := c.ChernoffDelta(epsilon)
	if theta < 1.5*b.Theta {
		return nil
	}
	g := &largeLosses{without: &Refiner{Losses: d, C: c, Tail: b.Tail, Theta: theta, Near: epsilon}}
	g.without.logShare = math.Min(0, math.Log(delta)-logBound)
	highest := 0.0
	for i := range b.Parts {
		highest = math.Max(highest, b.momentsOf(i).highest)
	}
	tolerance /= 4 * float64(len(b.Parts))
	limits := bracket.Limits(limit, bandRatio, highest)
	for j, lower := range limits[:len(limits)-1] {
		for i, p := range b.Parts {
			if !p.Pair.Smooth { // has no large loss
				continue
			}
			s := b.band(i, lower, limits[j+1], epsilon)
			up, lo, ok := s.compute(tolerance)
			if !ok {
				return nil
			}
			g.up, g.lo = append(g.up, up), append(g.lo, lo)
		}
	}
	return g
}

// run computes both bounds.
func (g *largeLosses) run(b *Refiner) (up, lo bracket.Composed, ok bool) {
	g.without.Budget = b.Budget
	above, below, ok := g.without.Run()
	b.coarsest = g.without.coarsest
	if !ok {
		return nil, nil, false
	}
	return append(bracket.LossSum{above}, g.up...), append(bracket.LossSum{below}, g.lo...), true
}
