package accountant

import "math"

// largeLosses separates single losses so large and so rare that no tilt serves both
// them and the sum of all others. With limits l_0 < l_1 < ... on the losses,
//
//	δ(ε) = δ(ε; none above l_0) + Σ_j δ(ε; some above l_{j-1}, none above l_j),
//
// where each term has a tilt and grids of its own. In a ledger of several
// parts the terms of the sum are divided further, by the first part that has a
// loss above l_{j-1}.
type largeLosses struct {
	without *bracket // none above l_0
	up, lo  lossSum  // the other terms
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
	// maxLargeLossParts is the largest number of parts whose large losses are separated
	maxLargeLossParts = 6
)

// everything is the parts of the direction, the Gaussian ones as one of them.
func (b *bracket) everything() []part {
	if b.mu2 == 0 {
		return b.parts
	}
	return append(append([]part{}, b.parts...), part{count: 1, pair: gaussianPair(math.Sqrt(b.mu2))})
}

// separable reports whether large losses can be composed apart: few parts, all with densities.
func (b *bracket) separable() bool {
	for _, p := range b.parts {
		if p.pair.lower != nil || !p.pair.smooth {
			return false
		}
	}
	return len(b.parts) > 0 && len(b.parts) <= maxLargeLossParts
}

// withoutLargeLosses is the direction without losses above the limit.
func (b *bracket) withoutLargeLosses(limit float64) (*direction, *composition) {
	d := &direction{name: b.name, mu2: b.mu2}
	for _, p := range b.parts {
		p.pair = p.pair.below(limit)
		d.parts = append(d.parts, p)
	}
	return d, d.compose(b.tail, 1)
}

// below is the pair without its losses above the limit.
func (p *pair) below(limit float64) *pair {
	if math.IsInf(limit, 1) {
		return p
	}
	rest, _ := p.divide(division{math.Inf(-1), limit})
	rest.smooth = p.smooth
	return rest
}

// above is about what single losses above the limit contribute to δ(ε).
func (b *bracket) above(limit, epsilon float64) float64 {
	sum := 0.0
	for i := range b.c.nodes {
		n := &b.c.nodes[i]
		for j, l := range n.loss {
			if l > limit && l > epsilon {
				sum -= n.count * n.mass[j] * math.Expm1(epsilon-l)
			}
		}
	}
	return sum
}

// expected is about how many losses are above the limit.
func (b *bracket) expected(limit float64) float64 {
	sum := 0.0
	for i := range b.c.nodes {
		n := &b.c.nodes[i]
		for j, l := range n.loss {
			if l > limit {
				sum += n.count * n.mass[j]
			}
		}
	}
	return sum
}

// separate finds the large losses near the answer ε, where δ(ε) is about delta and is
// wanted to the tolerance; nil when there are none.
func (b *bracket) separate(epsilon, delta, tolerance float64) *largeLosses {
	limit := firstLimit * epsilon
	if b.logShare > poorLogShare || !b.separable() || !(epsilon > 0) || b.expected(limit) > mostLarge {
		return nil
	}
	d, c := b.withoutLargeLosses(limit)
	theta, logBound := c.chernoffDelta(epsilon)
	if theta < 1.5*b.theta {
		return nil
	}
	g := &largeLosses{without: &bracket{direction: d, c: c, tail: b.tail, theta: theta, near: epsilon}}
	g.without.logShare = math.Min(0, math.Log(delta)-logBound)
	// what no band can reach goes to infinite loss (pair.cut)
	highest := 0.0
	for i := range b.parts {
		highest = math.Max(highest, b.momentsOf(i).highest)
	}
	tolerance /= 4 * float64(len(b.parts))
	for limit < highest {
		lower := limit
		if limit *= bandRatio; limit >= highest {
			limit = math.Inf(1)
		}
		for i := range b.parts {
			s := b.band(i, lower, limit, epsilon)
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
func (g *largeLosses) run(b *bracket) (up, lo composed, ok bool) {
	g.without.budget = b.budget
	above, below, ok := g.without.run()
	b.coarsest = g.without.coarsest
	if !ok {
		return nil, nil, false
	}
	return append(lossSum{above}, g.up...), append(lossSum{below}, g.lo...), true
}

// lossSum is a sum of contributions to δ(ε), the first with the stretch.
type lossSum []composed

func (a lossSum) stretch() (start, end, h float64) { return a[0].stretch() }

func (a lossSum) upper(epsilon float64) float64 {
	sum := 0.0
	for _, c := range a {
		sum += c.upper(epsilon)
	}
	return sum
}

func (a lossSum) lower(epsilon float64) float64 {
	sum := 0.0
	for _, c := range a {
		sum += c.lower(epsilon)
	}
	return sum
}
