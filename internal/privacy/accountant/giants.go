package accountant

import "math"

// giants separates single losses so large and so rare that no tilt serves both
// them and the sum of all others:
//
//	δ(ε) = δ(ε; no giant) + δ(ε; some giant).
//
// The first is a composition of the pair without its giants, with a tilt of
// its own; in the second nearly any grid will do, because ε lies far below.
type giants struct {
	without *bracketing
	with    route
	count   float64
	pair    *pair
}

// giantShare is the part of δ that giants contribute.
const giantShare = 0.01

// separate finds the giants of a direction with one part, near the answer ε
// with d log δ/dε = slope; nil when there are none.
func (b *bracketing) separate(epsilon, slope, delta, width float64) *giants {
	if b.mu2 > 0 || len(b.parts) != 1 || b.parts[0].pair.lower != nil || !b.parts[0].pair.smooth {
		return nil
	}
	p := b.parts[0]
	s := b.spread(0)
	sum, i := 0.0, len(s.loss)-1
	for ; i >= 0 && s.loss[i] > epsilon && sum < giantShare*delta; i-- {
		sum -= s.count * s.mass[i] * math.Expm1(epsilon-s.loss[i])
	}
	if sum < giantShare*delta || i < 0 {
		return nil
	}
	limit := s.loss[i]
	if !(limit > 2*epsilon) {
		return nil
	}
	whole := division{math.Inf(-1), limit}
	rest, _ := p.pair.divide(whole)
	rest.smooth = true
	d := &direction{name: b.name, parts: []part{{key: p.key, count: p.count, pair: rest}}}
	c := d.compose(b.tail, 1)
	theta, _ := c.chernoffDelta(epsilon)
	if theta < 1.5*b.theta {
		return nil
	}
	g := &giants{count: s.count, pair: p.pair}
	g.without = &bracketing{direction: d, c: c, tail: b.tail, theta: theta, near: epsilon, budget: b.budget}
	tolerance := width / 8 * math.Min(1, -slope*epsilon)
	far := -math.Expm1(epsilon - limit)
	g.with = route{mixed: true, block: p.count, layering: layering{
		division: whole, most: maxRare, least: 1,
		h:      math.Min(limit/8, math.Sqrt(8/giantShare*tolerance*far/s.count)),
		coarse: math.Max((s.highest-limit)/maxLayerPoints, math.Min((limit-epsilon)/16, math.Sqrt(8/giantShare*tolerance*far))),
	}}
	plan := &itinerary{tilt: tilt{theta: b.theta}, spreads: []*spread{s}, nodes: b.c.nodes, tail: b.tail, logEta: layerLogEta}
	if !plan.ready(&g.with, 0) {
		return nil
	}
	return g
}

// run computes both bounds.
func (g *giants) run(b *bracketing) (up, lo composed, ok bool) {
	g.without.budget, g.without.logShare = b.budget, 0
	p, ok := g.without.plan()
	b.coarsest = g.without.coarsest
	if !ok {
		return nil, nil, false
	}
	up, lo = both(func(up bool) composed {
		return apart{p.compose(up), g.with.layered(g.pair, up).mixed(g.count)}
	})
	return up, lo, true
}

// apart is the sum of two contributions to δ(ε), the first with the stretch.
type apart struct{ first, other composed }

func (a apart) stretch() (start, end, h float64) { return a.first.stretch() }

func (a apart) upper(epsilon float64) float64 {
	return a.first.upper(epsilon) + a.other.upper(epsilon)
}

func (a apart) lower(epsilon float64) float64 {
	return a.first.lower(epsilon) + a.other.lower(epsilon)
}
