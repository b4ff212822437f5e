package accountant

import "math"

// aimAtEpsilon plans for δ(ε) = delta near ε, where d log δ/dε = slope, to the
// relative width of ε.
func (b *bracket) planEpsilon(epsilon, slope, delta, width float64) {
	b.near, b.budget = epsilon, 3*width*epsilon/(1-slope)
	b.logShare = b.share(math.Log(delta))
	b.large = b.separate(epsilon, delta, width*math.Min(1, -slope*epsilon)*delta)
}

// share is the log of the part of the tilted mass that decides when log δ(near)
// is logDelta.
func (b *bracket) share(logDelta float64) float64 {
	return math.Min(0, logDelta+b.theta*b.near-b.c.logMoment(b.theta)-logHockeyStick(b.theta))
}

// aimAtDelta plans for δ(near) of about e^{logDelta}, to the relative width.
func (b *bracket) planDelta(logDelta, width float64) {
	b.logShare = b.share(logDelta)
	delta := math.Exp(logDelta)
	b.large = b.separate(b.near, delta, width*delta)
	theta := b.theta
	if b.large != nil {
		theta = b.large.without.theta
	}
	b.budget = 3 * width / (theta * (1 + theta))
}

// aimFromChernoff plans for δ(near) where nothing better is known of it than
// Chernoff's bound, and returns a rough log δ. Where large losses make that bound
// loose, the tails are cut anew.
func (b *bracket) planFromChernoff(logBound, width float64) (logDelta float64) {
	logDelta = b.splitLogDelta(logBound)
	if logDelta < logBound+poorLogShare {
		b.tail = math.Max(smallestCut, math.Exp(logDelta)*tailShare/b.steps())
		b.c = b.compose(b.tail, 1)
		b.theta, _ = b.c.chernoffDelta(b.near)
		logDelta = b.splitLogDelta(logBound)
	}
	b.planDelta(logDelta, width)
	return logDelta
}

// splitLogDelta is a rough log δ(near), at most logBound: of what large losses
// contribute one by one and Chernoff's bound without them.
func (b *bracket) splitLogDelta(logBound float64) float64 {
	if !b.separable() || !(b.near > 0) {
		return logBound
	}
	limit := firstLimit * b.near
	_, c := b.withoutLargeLosses(limit)
	_, rest := c.chernoffDelta(b.near)
	return math.Min(logBound, logAddExp(rest, math.Log(b.above(limit, b.near))))
}

// splitEpsilon is a rough ε below bound: where what large losses contribute one by
// one and Chernoff's bound without them add up to delta.
func (b *bracket) splitEpsilon(delta, bound float64) float64 {
	if !b.separable() || b.above(firstLimit*bound, bound) > delta {
		return bound
	}
	lo, hi := math.Log(bound)-20, math.Log(bound)
	for hi-lo > 0.01 {
		mid := (lo + hi) / 2
		epsilon := math.Exp(mid)
		delta := delta - b.above(firstLimit*epsilon, epsilon)
		if delta > 0 {
			_, c := b.withoutLargeLosses(firstLimit * epsilon)
			if _, logBound := c.chernoffDelta(epsilon); logBound <= math.Log(delta) {
				hi = mid
				continue
			}
		}
		lo = mid
	}
	return math.Exp(hi)
}
