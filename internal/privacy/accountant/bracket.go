package accountant

import "math"

// bracket runs the bracket engine for one direction on grids that the
// caller refines until the bracket is narrow enough.
type bracket struct {
	*direction
	c           *composition
	tail, theta float64
	near        float64      // loss that must be well inside the window
	budget      float64      // wanted Σ spacing² over all roundings to a grid; 0: one grid of atMost points
	logShare    float64      // log of the part of the tilted mass that decides, for the windows
	widen       float64      // extra window, in units of the tilted standard deviation
	atMost      int          // points of the final grid; 0 means maxPoints
	coarsest    bool         // the last run was above the budget, for want of points
	last        *gridPlan    // of the last run
	large       *largeLosses // single losses that are composed apart; nil when there are none
}

const (
	minPoints     = 1 << 10
	maxPoints     = 1 << 22
	bracketLogEta = -32.2 // log 1e-14
	floorLogShare = -27.7 // log 1e-12
	leastScale    = 1e-6  // of the standard deviation, relative to the loss
	hopelessLog   = 100   // log of the factor on δ that rounding to a grid may cost: beyond, none is tried
	edgePoints    = 80    // grid points of a window that are there for rounding
)

// full reports that the last run could not have the spacing it wanted.
func (b *bracket) full() bool { return b.coarsest }

// refine shrinks the spacing for a bracket narrower by the factor: widths are
// of second order in the spacing.
func (b *bracket) refine(factor float64) { b.budget *= 0.8 * math.Max(factor, 1e-4) }

// run computes both bounds; ok is false when the window is not finite, when no grid is
// fine enough to say more than Chernoff's bound, or when the grids are those of the last run.
func (b *bracket) run() (up, lo composed, ok bool) {
	if b.large != nil {
		return b.large.run(b)
	}
	p, ok := b.plan()
	if !ok || b.last != nil && p.same(b.last) {
		return nil, nil, false
	}
	b.last = p
	bounds := p.compose(true, false)
	return bounds[0], bounds[1], true
}

// both computes the two bounds concurrently.
func both(compose func(up bool) composed) (up, lo composed) {
	done := make(chan struct{})
	go func() {
		up = compose(true)
		close(done)
	}()
	lo = compose(false)
	<-done
	return up, lo
}

// runUpper computes the upper bound alone.
func (b *bracket) runUpper() (up composed, ok bool) {
	p, ok := b.plan()
	if !ok {
		return nil, false
	}
	return p.compose(true)[0], true
}

// plan lays the grids: the window that holds the tilted sum, and for every
// part the cheapest plan that keeps to the budget, or the most accurate one.
func (b *bracket) plan() (p *gridPlan, ok bool) {
	mean, variance := b.c.moments(b.theta)
	// where the tilt leaves one value alone, the grid needs a scale all the same
	sd := math.Max(math.Sqrt(variance), leastScale*math.Max(b.near, math.Abs(mean)))
	w := b.c.window(b.theta, mean, sd, bracketLogEta+b.logShare)
	margin := math.Max(math.Min(0.02*b.near, sd), math.Min(2/b.theta, sd)) + b.widen*sd
	from := math.Min(mean-w.below, b.near-margin)
	width := math.Max(mean+w.above, b.near+margin) - from
	if math.IsNaN(width) || math.IsInf(width, 0) {
		return nil, false
	}
	p = &gridPlan{tiltedGrid: tiltedGrid{theta: b.theta, from: from}, tail: b.tail, logEta: layerLogEta + b.logShare}
	for i, part := range b.parts {
		p.parts, p.moments, p.nodes = append(p.parts, part), append(p.moments, b.momentsOf(i)), append(p.nodes, b.c.nodes[i])
	}
	if b.mu2 > 0 {
		g := gaussianPair(math.Sqrt(b.mu2))
		s := &lossMoments{pair: g, count: 1}
		s.lowest, s.highest = g.span(b.floor(), b.tail)
		p.parts, p.moments, p.nodes = append(p.parts, part{count: 1, pair: g}), append(p.moments, s), append(p.nodes, nodes{})
	}
	if b.atMost == 0 {
		b.atMost = maxPoints
	}
	least := minPoints
	if b.budget == 0 {
		least = b.atMost
	}
	b.coarsest = p.choose(width, b.budget, least, b.atMost) > 1.01*b.budget
	if p.inflation() > hopelessLog {
		return nil, false
	}
	// Rounding to the grid moves losses by up to its spacing, which the proof
	// that nothing is outside must not magnify.
	if p.window = w; math.Max(w.lambdaBelow, w.lambdaAbove)*p.h > 1 {
		p.window = b.c.window(b.theta, mean, largestLambda*p.h, bracketLogEta+b.logShare)
	}
	p.from -= edgePoints / 2 * p.h
	return p, true
}

// spread is the spread of part i; a pair without a density, of which every step
// goes straight onto the final grid, has no nodes.
func (b *bracket) momentsOf(i int) *lossMoments {
	part := &b.parts[i]
	if part.pair.smooth {
		return newLossMoments(&b.c.nodes[i], part.pair, b.theta, floorLogShare+b.logShare, b.tail)
	}
	s := &lossMoments{pair: part.pair, count: float64(part.count)}
	s.lowest, s.highest = part.pair.span(b.floor(), b.tail)
	return s
}

// floor is a loss below which mass does not matter under the tilt.
func (b *bracket) floor() float64 { return (floorLogShare - math.Log(b.steps())) / b.theta }
