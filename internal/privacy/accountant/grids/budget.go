package grids

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// PlanEpsilon plans for δ(ε) = delta near ε, where d log δ/dε = slope, to the
// relative width of ε.
func (b *Refiner) PlanEpsilon(epsilon, slope, delta, width float64) {
	b.Near, b.Budget = epsilon, 3*width*epsilon/(1-slope)
	b.logShare = b.share(math.Log(delta))
	b.Large = b.separate(epsilon, delta, width*math.Min(1, -slope*epsilon)*delta, poorLogShare)
}

// share is the log of the part of the tilted mass that decides when log δ(near)
// is logDelta.
func (b *Refiner) share(logDelta float64) float64 {
	return math.Min(0, logDelta+b.Theta*b.Near-b.C.LogMoment(b.Theta)-numeric.LogHockeyStick(b.Theta))
}

// PlanDelta plans for δ(near) of about e^{logDelta}, to the relative width.
func (b *Refiner) PlanDelta(logDelta, width float64) {
	b.logShare = b.share(logDelta)
	delta := math.Exp(logDelta)
	b.Large = b.separate(b.Near, delta, width*delta, poorLogShare)
	b.planBudget(width)
}

// SeparateAnyway composes large losses apart even if the tilt serves them well, near
// δ(near) of about e^{logDelta}.
func (b *Refiner) SeparateAnyway(logDelta, width float64) {
	delta := math.Exp(logDelta)
	if b.Large = b.separate(b.Near, delta, width*delta, math.Inf(1)); b.Large != nil {
		b.planBudget(width)
	}
}

// planBudget is the budget for δ(near) to the relative width.
func (b *Refiner) planBudget(width float64) {
	theta := b.Theta
	if b.Large != nil {
		theta = b.Large.without.Theta
	}
	b.Budget = 3 * width / (theta * (1 + theta))
}

// PlanNearOne widens the budget where δ(near) is 1 minus at most `rest`, which is a bound
// by the moment at -s: errors of grids change that rest alone.
func (b *Refiner) PlanNearOne(rest, s, width float64) {
	if b.Large == nil && rest < 1 {
		near := 3 * width / (rest * s * (1 + s))
		b.Budget = math.Max(b.Budget, math.Min(near, 1/(b.Theta*(1+b.Theta))))
	}
}

// PlanFromChernoff plans for δ(near) from Chernoff's bound alone, and returns a rough log
// δ. If large losses make that bound loose, it cuts the tails again.
func (b *Refiner) PlanFromChernoff(logBound, width float64) (logDelta float64) {
	logDelta = b.splitLogDelta(logBound)
	if logDelta < logBound+poorLogShare {
		b.Tail = math.Max(SmallestCut, math.Exp(logDelta)*TailShare/b.Steps())
		b.C = b.Compose(b.Tail, 1)
		b.Theta, _ = b.C.ChernoffDelta(b.Near)
		logDelta = b.splitLogDelta(logBound)
	}
	b.PlanDelta(logDelta, width)
	return logDelta
}

// splitLogDelta is a rough log δ(near), at most logBound: the single contributions of large
// losses plus Chernoff's bound without them.
func (b *Refiner) splitLogDelta(logBound float64) float64 {
	if !(b.Near > 0) || !b.separable(b.Near) {
		return logBound
	}
	limit := firstLimit * b.Near
	_, c := b.withoutLargeLosses(limit)
	_, rest := c.ChernoffDelta(b.Near)
	return math.Min(logBound, numeric.LogAddExp(rest, math.Log(b.above(limit, b.Near))))
}

// SplitEpsilon is a rough ε below bound, at which the single contributions of large losses
// plus Chernoff's bound without them add up to delta.
func (b *Refiner) SplitEpsilon(delta, bound float64) float64 {
	if !b.separable(bound) || b.above(firstLimit*bound, bound) > delta {
		return bound
	}
	lo, hi := math.Log(bound)-20, math.Log(bound)
	for hi-lo > 0.01 {
		mid := (lo + hi) / 2
		epsilon := math.Exp(mid)
		delta := delta - b.above(firstLimit*epsilon, epsilon)
		if delta > 0 {
			_, c := b.withoutLargeLosses(firstLimit * epsilon)
			if _, logBound := c.ChernoffDelta(epsilon); logBound <= math.Log(delta) {
				hi = mid
				continue
			}
		}
		lo = mid
	}
	return math.Exp(hi)
}
