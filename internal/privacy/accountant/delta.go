package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/contour"
	"d3p/internal/privacy/accountant/grids"
)

// delta brackets δ(epsilon) to about the relative width.
func (d *direction) delta(epsilon, width float64) (Direction, error) {
	finite := math.Exp(d.noDP)
	wrap := func(r Direction, err error) (Direction, error) { // δ = 1 - F + F δ of the finite part
		if d.noDP != 0 {
			for _, p := range []*float64{&r.Lower, &r.Estimate, &r.Upper} {
				*p = -math.Expm1(d.noDP) + finite**p
			}
		}
		return r, err
	}
	d.prepareAt(epsilon)
	if _, deltaAt, ok := d.exact(); ok {
		rest := 0.0
		if _, _, err := d.largestLoss(); err != nil { // no δ is 0
			rest = underflow
		}
		return wrap(d.around(deltaAt(epsilon), rest), nil)
	}
	return wrap(d.capped(func() (Direction, error) { return d.finiteDeltaAt(epsilon, width) },
		func(plain *direction) (Direction, error) { return plain.delta(epsilon, width) }))
}

// cutShare is the part of Chernoff's bound on δ at which upper tails are cut.
const cutShare = 1e-3 * grids.TailShare

// If δ is smaller than the cut of the tails resolves, Chernoff's bound is the answer.
const (
	smallestLogDelta = -600
	// smallestNarrow is the least δ that is bracketed narrowly: below, the first bracket is
	// the answer
	smallestNarrow = 1e-30
)

// composeAt is the composition for questions at epsilon, its tails cut in
// proportion to δ, and the tilt and the logarithm of Chernoff's bound there.
func (d *direction) composeAt(epsilon float64) (c *bracket.Composition, tail, theta, logBound float64) {
	tail = grids.SmallestCut
	for last := math.Inf(1); ; { // the first bounds are loose: they see tails that do not matter
		c = d.Compose(tail, 1)
		theta, logBound = c.ChernoffDelta(epsilon)
		bound := math.Exp(logBound) + tail*d.Steps()
		next := math.Max(grids.SmallestCut, bound*cutShare/d.Steps())
		if !(bound < last/2) || next == grids.SmallestCut {
			return c, tail, theta, logBound
		}
		last, tail = bound, next
	}
}

// contourLogDelta is the contour engine's log δ(ε).
func (d *direction) contourLogDelta(c *bracket.Composition, tail, theta, epsilon float64) (v float64, ok bool) {
	if !d.smooth() {
		return 0, false
	}
	k, ok := contour.NewIntegral(&d.Losses, tail, theta, c)
	if !ok {
		return 0, false
	}
	v, _, precise := k.LogDelta(epsilon)
	return v, precise && !math.IsNaN(v)
}

// finiteDeltaAt is delta for the finite losses, composed.
func (d *direction) finiteDeltaAt(epsilon, width float64) (Direction, error) {
	if d.unreliable {
		return Direction{Name: d.name}, nil
	}
	c, tail, theta, logBound := d.composeAt(epsilon)
	chernoff := math.Min(1, math.Exp(logBound)+tail*d.Steps()+underflow)
	// The price of infinite losses is known exactly.
	asked := width
	wanted := func(upper float64) float64 { return asked * (1 + math.Expm1(-d.noDP)/upper) }
	if width = wanted(chernoff); width >= 1 {
		return d.combine(0, 0, chernoff, engineBracket, false)
	}
	if logBound < smallestLogDelta {
		return Direction{Name: d.name, Engine: engineChernoff, Upper: chernoff}, nil
	}
	rest, s, ok := c.Below(epsilon)
	if ok && rest <= width/2 {
		return d.combine(1-rest, 0, 1, engineBracket, false)
	}
	logEstimate, fast := d.contourLogDelta(c, tail, theta, epsilon)
	b := &grids.Refiner{Losses: &d.Losses, C: c, Tail: tail, Theta: c.LeastTilt(theta), Near: epsilon}
	if !fast {
		logEstimate = b.PlanFromChernoff(logBound, width)
	} else {
		b.PlanDelta(logEstimate, width)
	}
	if ok {
		b.PlanNearOne(rest, s, width)
	}
	lower, upper, last := 0.0, chernoff, math.Inf(1)
	engine := engineChernoff
	for range 4 {
		up, lo, ok := b.Run()
		if !ok {
			break
		}
		lower, upper = math.Max(lower, lo.Lower(epsilon)), math.Min(upper, up.Upper(epsilon))
		engine = engineBracket
		got := (upper - lower) / upper
		width = math.Max(width, wanted(upper))
		if b.Large != nil && got > width && math.Log(upper) < logEstimate-0.3 { // the first guess was poor
			logEstimate = math.Log(upper)
			b.PlanDelta(logEstimate, width)
			b.Refine(width / got)
			continue
		}
		if !(got > 1.2*width) || upper < smallestNarrow || b.Full() || got > 0.7*last { // or something else limits the width
			break
		}
		if b.Large == nil && b.Costly(width/got) {
			if b.SeparateAnyway(math.Log(upper), width); b.Large != nil {
				continue
			}
		}
		last = got
		b.Refine(width / got)
	}
	return d.combine(lower, math.Exp(logEstimate), upper, engine, fast)
}

// estimateLogDelta is log δ(ε): to about ten digits by the contour engine (precise), or to
// a few by one coarse bracket if that engine does not apply.
func (d *direction) estimateLogDelta(epsilon float64) (v float64, precise bool, err error) {
	if d.noDP != 0 { // infinite losses add their mass
		finite := *d
		finite.noDP = 0
		v, precise, err = finite.estimateLogDelta(epsilon)
		return math.Log(-math.Expm1(d.noDP) + math.Exp(d.noDP+v)), precise, err
	}
	d.prepareAt(epsilon)
	if d.unreliable {
		return d.unamplified().estimateLogDelta(epsilon)
	}
	if _, deltaAt, ok := d.exact(); ok {
		return math.Log(deltaAt(epsilon)), true, nil
	}
	c, tail, theta, logBound := d.composeAt(epsilon)
	if logBound < smallestLogDelta {
		return logBound, true, nil
	}
	if rest, _, ok := c.Below(epsilon); ok && rest <= certifyWidth/2 {
		return math.Log1p(-rest), true, nil
	}
	if v, ok := d.contourLogDelta(c, tail, theta, epsilon); ok {
		return v, true, nil
	}
	const width = 1e-3
	b := &grids.Refiner{Losses: &d.Losses, C: c, Tail: tail, Theta: c.LeastTilt(theta), Near: epsilon}
	b.PlanFromChernoff(logBound, width)
	if b.Large == nil {
		b.AtMost, b.Budget = 4*coarsePoints, 0
	}
	up, lo, ok := b.Run()
	if !ok {
		return logBound, false, nil
	}
	return math.Log((2*up.Upper(epsilon) + lo.Lower(epsilon)) / 3), false, nil // the leading errors cancel
}
