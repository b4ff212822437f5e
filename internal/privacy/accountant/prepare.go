package accountant

import "math"

// steps is the number of losses that are added up, the Gaussians counting as one.
func (d *direction) steps() float64 {
	n := 0.0
	if d.mu2 > 0 {
		n = 1
	}
	for _, p := range d.parts {
		n += float64(p.count)
	}
	return n
}

// exact reports the answers of closed forms and single steps; ok is false
// when the direction needs composition.
func (d *direction) exact() (epsilonAt func(delta float64) float64, deltaAt func(epsilon float64) float64, ok bool) {
	switch {
	case len(d.parts) == 0 && d.mu2 == 0:
		return func(float64) float64 { return 0 }, func(float64) float64 { return 0 }, true
	case len(d.parts) == 0:
		mu := math.Sqrt(d.mu2)
		return func(delta float64) float64 { return gaussianEpsilon(mu, delta) },
			func(epsilon float64) float64 { return gaussianDelta(mu, epsilon/mu-mu/2) }, true
	case d.mu2 == 0 && len(d.parts) == 1 && d.parts[0].count == 1 && d.parts[0].pair.lower == nil:
		p := d.parts[0].pair
		return func(delta float64) float64 { return singleEpsilon(p, delta) },
			func(epsilon float64) float64 { return singleDelta(p, epsilon) }, true
	}
	return nil, nil, false
}

// prepare builds the pairs of all parts, for answers near the given delta. Pairs
// that depend on the tilt get it from tilt, applied to the same direction with
// Poisson sampling in their place.
func (d *direction) prepare(delta float64, tilt func(*composition) float64) {
	proxy := &direction{name: d.name, mu2: d.mu2}
	balls := false
	for _, p := range d.parts {
		switch p.key.kind {
		case ballsRemovePair, ballsAddPair:
			balls = true
			kind := removePair + p.key.kind - ballsRemovePair
			p.key, p.count = pairKey{kind: kind, s: p.key.s, q: 1 / float64(p.key.n)}, p.count*int64(p.key.n)
		}
		proxy.parts = append(proxy.parts, part{key: p.key, count: p.count, pair: p.key.build(0)})
	}
	if !balls {
		d.parts = proxy.parts
		return
	}
	tail := delta * tailShare / proxy.steps()
	theta := tilt(proxy.compose(tail, 1))
	d.unreliable = false
	for i, p := range d.parts {
		d.parts[i].pair = p.key.build(delta * ballsTailShare / d.steps())
		if q := d.parts[i].pair; q.lower != nil && !(q.reliable(theta, p.count) && q.lower.reliable(theta, p.count)) {
			d.parts[i].pair = proxy.parts[i].pair
			d.unreliable = true
		}
	}
}

// prepareAt is prepare for answers at epsilon, where delta is not yet known.
func (d *direction) prepareAt(epsilon float64) {
	var logBound float64
	at := func(c *composition) (theta float64) {
		theta, logBound = c.chernoffDelta(epsilon)
		return theta
	}
	d.prepare(1e-30, at)
	if logBound != 0 {
		d.prepare(math.Exp(math.Max(-600, logBound))*1e-3, at)
	}
}

// smooth reports whether the contour engine applies: some loss has a density.
func (d *direction) smooth() bool {
	if d.mu2 > 0 {
		return true
	}
	for _, p := range d.parts {
		if p.pair.smooth {
			return true
		}
	}
	return false
}

// finiteDelta is the delta that is left for the finite losses once the
// infinite ones of black-box steps are paid: (δ - (1-F))/F.
func (d *direction) finiteDelta(delta float64) (float64, error) {
	left := (delta + math.Expm1(d.noDP)) * math.Exp(-d.noDP)
	if left <= 0 {
		return 0, &InfeasibleError{
			Why:  "the deltas of the ledger's (epsilon, delta) steps already reach the target delta",
			Hint: "ask for a larger delta",
		}
	}
	return left, nil
}
