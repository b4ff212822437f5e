package accountant

import (
	"math"
)

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
		proxy.parts = append(proxy.parts, part{key: p.key, count: p.count, pair: p.key.build(0, 0)})
	}
	if !balls {
		d.parts = proxy.parts
		return
	}
	tail := delta * tailShare / proxy.steps()
	theta := tilt(proxy.compose(tail, 1))
	d.unreliable = false
	for i, p := range d.parts {
		d.parts[i].pair = p.key.build(theta, delta*tailShare/d.steps())
		if q := d.parts[i].pair; q.lower != nil && !(q.reliable(theta) && q.lower.reliable(theta)) {
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

// tailShare is the part of delta that may go to infinite loss by cutting the
// upper tails, over all steps.
const tailShare = 1e-8

// epsilon brackets ε(delta) to about the relative width.
func (d *direction) epsilon(delta, width float64) (Direction, error) {
	delta, err := d.finiteDelta(delta)
	if err != nil {
		return Direction{}, err
	}
	return d.capped(func() (Direction, error) { return d.finiteEpsilon(delta, width) },
		func(plain *direction) (Direction, error) { return plain.finiteEpsilon(delta, width) })
}

// capped answers by the engines and, where the direction has steps that are
// also bounded without their amplification (balls-and-bins), by that bound
// when it is smaller or the engines have none.
func (d *direction) capped(answer func() (Direction, error), plainAnswer func(*direction) (Direction, error)) (Direction, error) {
	plain := d.unamplified()
	if plain == nil {
		return answer()
	}
	cap, err := plainAnswer(plain)
	if err != nil {
		return cap, err
	}
	r, err := answer()
	if d.unreliable {
		r = Direction{Name: d.name}
	} else if err == nil && r.Upper <= cap.Upper {
		return r, nil
	}
	if err != nil {
		r = Direction{Name: d.name}
	}
	r.Upper, r.Engine = cap.Upper, engineChernoff // valid, but only an upper bound
	r.Estimate = math.Max(r.Lower, math.Min(r.Estimate, r.Upper))
	return r, nil
}

// unamplified is the direction with every balls-and-bins epoch as the one
// Gaussian step that it is when the assignment is known; nil when there is none.
func (d *direction) unamplified() *direction {
	plain := &direction{name: d.name, mu2: d.mu2, attack: d.attack}
	found := false
	for _, p := range d.parts {
		if p.key.kind == ballsRemovePair || p.key.kind == ballsAddPair {
			found = true
			plain.mu2 += float64(p.count) / (p.key.s * p.key.s)
			continue
		}
		plain.parts = append(plain.parts, p)
	}
	if !found {
		return nil
	}
	return plain
}

// largest is the largest possible sum of losses and the log of its P-mass,
// when every loss has a largest value with mass (Laplace, black box). It
// brackets ε where the answer is close to pure differential privacy and no
// tilt has a finite width: δ(ε) >= P(top)(1-e^{ε-top}).
func (d *direction) largest() (top, logMass float64, ok bool) {
	if d.mu2 > 0 {
		return 0, 0, false
	}
	for _, p := range d.parts {
		best := atom{loss: math.Inf(-1)}
		for _, a := range p.pair.atoms {
			if a.loss > best.loss {
				best = a
			}
		}
		if len(p.pair.pieces) > 0 && p.key.kind != laplaceKind || p.pair.lower != nil || !(best.mass > 0) || p.key.kind == discreteKind {
			return 0, 0, false
		}
		top += float64(p.count) * best.loss
		logMass += float64(p.count) * math.Log(best.mass)
	}
	return top, logMass, true
}

// finiteEpsilon is epsilon for the finite losses.
func (d *direction) finiteEpsilon(delta, width float64) (Direction, error) {
	if d.attack {
		width = math.Max(width, 1e-3)
	}
	d.prepare(delta, func(c *composition) float64 {
		theta, _ := c.chernoffEpsilon(math.Log(delta))
		return theta
	})
	if d.unreliable {
		return Direction{Name: d.name}, nil
	}
	if epsilonAt, _, ok := d.exact(); ok {
		e := epsilonAt(delta)
		return d.around(e, engineExact), nil
	}
	tail := delta * tailShare / d.steps()
	c := d.compose(tail, 1)
	logDelta := math.Log(delta)
	theta, bound := c.chernoffEpsilon(logDelta)
	estimate, slope, fast := d.contourEpsilon(c, tail, theta, bound, logDelta)
	if !fast {
		estimate, slope, theta = d.coarseEpsilon(c, tail, theta, bound, delta)
	}
	if top, logMass, ok := d.largest(); ok {
		if p := delta * math.Exp(-logMass); p < 1 {
			if lower := math.Max(0, top+math.Log1p(-p)); top-lower <= width*top {
				return d.combine(lower, 0, top*(1+exactSlack), engineExact, false)
			}
		}
		bound = math.Min(bound, top*(1+exactSlack))
	}
	if estimate <= 0 || bound <= 0 {
		return d.nearZero(c, delta, tail, width)
	}
	b := &bracketing{direction: d, c: c, tail: tail, theta: theta, near: estimate}
	b.h = math.Sqrt(4 * width * estimate / (d.steps() * (1 - slope)))
	lower, upper := 0.0, bound
	engine := engineChernoff
	for range 4 {
		up, lo, ok := b.run()
		if !ok {
			break
		}
		u, okU := up.epsilonUpper(delta)
		if !okU {
			b.widen += 3
			continue
		}
		l := lo.epsilonLower(delta, u)
		lower, upper, engine = math.Max(lower, l), math.Min(upper, u), engineBracket
		got := (upper - lower) / upper
		if !(got > 1.2*width) || b.full() {
			break
		}
		b.refine(width / got)
	}
	return d.combine(lower, estimate, upper, engine, fast)
}

// contourEpsilon is the contour engine's answer and slope d log δ/dε.
func (d *direction) contourEpsilon(c *composition, tail, theta, start, logDelta float64) (epsilon, slope float64, ok bool) {
	if !d.smooth() {
		return 0, 0, false
	}
	k, ok := newContour(d, tail, theta, c)
	if !ok {
		return 0, 0, false
	}
	return k.epsilon(logDelta, start)
}

// coarsePoints is the size of the grid that stands in for the contour engine
// where that does not apply.
const coarsePoints = 1 << 15

// coarseEpsilon is an upper bound on ε, the slope d log δ/dε and the tilt
// there, from one small grid; bound is Chernoff's.
func (d *direction) coarseEpsilon(c *composition, tail, theta, bound, delta float64) (epsilon, slope, tilt float64) {
	b := &bracketing{direction: d, c: c, tail: tail, theta: theta, near: math.Max(0, bound), atMost: coarsePoints}
	up, ok := b.runUpper()
	if !ok {
		return bound, -theta, theta
	}
	u, ok := up.epsilonUpper(delta)
	if !ok || u >= bound {
		return bound, -theta, theta
	}
	tilt, _ = c.chernoffDelta(u)
	const step = 0.02
	slope = math.Log(up.upper(u*(1+step))/up.upper(u)) / (step * u)
	if !(slope < 0) || u == 0 {
		slope = -tilt
	}
	return u, slope, tilt
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

// nearZero answers when ε is zero or nearly so: zero is claimed only when a
// bound proves δ(0) <= delta.
func (d *direction) nearZero(c *composition, delta, tail, width float64) (Direction, error) {
	theta, logBound := c.chernoffDelta(0)
	if logBound < math.Log(delta)-1e-6 {
		return Direction{Name: d.name, Engine: engineChernoff}, nil
	}
	b := &bracketing{direction: d, c: c, tail: tail, theta: theta}
	b.h = math.Sqrt(4 * width / (d.steps() * theta * (1 + theta)))
	_, upper := c.chernoffEpsilon(math.Log(delta))
	lower, upper, engine := 0.0, math.Max(upper, 0), engineChernoff
	for range 4 {
		up, lo, ok := b.run()
		if !ok {
			break
		}
		if up.upper(0) <= delta {
			return Direction{Name: d.name, Engine: engineBracket}, nil
		}
		if u, ok := up.epsilonUpper(delta); ok {
			engine = engineBracket
			upper = math.Min(upper, u)
			lower = math.Max(lower, lo.epsilonLower(delta, u))
		}
		if b.full() {
			break
		}
		b.refine(0.1)
	}
	return d.combine(lower, 0, upper, engine, false)
}

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
		return wrap(d.around(deltaAt(epsilon), engineExact), nil)
	}
	return wrap(d.capped(func() (Direction, error) { return d.finiteDeltaAt(epsilon, width) },
		func(plain *direction) (Direction, error) { return plain.delta(epsilon, width) }))
}

// finiteDeltaAt is delta for the finite losses, composed.
func (d *direction) finiteDeltaAt(epsilon, width float64) (Direction, error) {
	if d.unreliable {
		return Direction{Name: d.name}, nil
	}
	c := d.compose(1e-60, 1)
	_, logBound := c.chernoffDelta(epsilon)
	if logBound < -600 {
		return Direction{Name: d.name, Engine: engineChernoff, Upper: 1e-250}, nil
	}
	tail := math.Exp(logBound) * 1e-3 * tailShare / d.steps()
	c = d.compose(tail, 1)
	theta, logBound := c.chernoffDelta(epsilon)
	estimate, fast := 0.0, false
	if d.smooth() {
		if k, ok := newContour(d, tail, theta, c); ok {
			v, _ := k.logDelta(epsilon)
			estimate, fast = math.Exp(v), !math.IsNaN(v)
		}
	}
	b := &bracketing{direction: d, c: c, tail: tail, theta: theta, near: epsilon}
	b.h = math.Sqrt(4 * width / (d.steps() * theta * (1 + theta)))
	lower, upper := 0.0, math.Min(1, math.Exp(logBound)+tail*d.steps())
	engine := engineChernoff
	for range 4 {
		up, lo, ok := b.run()
		if !ok {
			break
		}
		lower, upper = math.Max(lower, lo.lower(epsilon)), math.Min(upper, up.upper(epsilon))
		engine = engineBracket
		got := (upper - lower) / upper
		if !(got > 1.2*width) || b.full() {
			break
		}
		b.refine(width / got)
	}
	return d.combine(lower, estimate, upper, engine, fast)
}

// estimateLogDelta is log δ(ε): to about ten digits by the contour engine
// (precise), to a few by one coarse bracket where that does not apply.
func (d *direction) estimateLogDelta(epsilon float64) (v float64, precise bool, err error) {
	d.prepareAt(epsilon)
	if d.unreliable {
		plain := d.unamplified()
		plain.noDP = d.noDP
		return plain.estimateLogDelta(epsilon)
	}
	if _, deltaAt, ok := d.exact(); ok && d.noDP == 0 {
		return math.Log(deltaAt(epsilon)), true, nil
	}
	if d.noDP != 0 {
		r, err := d.delta(epsilon, certifyWidth)
		return math.Log(r.Estimate), true, err
	}
	c := d.compose(1e-40, 1)
	_, logBound := c.chernoffDelta(epsilon)
	if logBound < -600 {
		return logBound, true, nil
	}
	tail := math.Exp(logBound) * 1e-3 * tailShare / d.steps()
	c = d.compose(tail, 1)
	theta, _ := c.chernoffDelta(epsilon)
	if d.smooth() {
		if k, ok := newContour(d, tail, theta, c); ok {
			if v, _ := k.logDelta(epsilon); !math.IsNaN(v) {
				return v, true, nil
			}
		}
	}
	b := &bracketing{direction: d, c: c, tail: tail, theta: theta, near: epsilon, atMost: 4 * coarsePoints}
	up, lo, ok := b.run()
	if !ok {
		return logBound, false, nil
	}
	return math.Log((2*up.upper(epsilon) + lo.lower(epsilon)) / 3), false, nil // the leading errors cancel
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

// around is an exact value with its declared error.
func (d *direction) around(v float64, engine string) Direction {
	return Direction{Name: d.name, Engine: engine, Lower: v * (1 - exactSlack), Estimate: v, Upper: v * (1 + exactSlack)}
}

// agreement is how far outside its bracket, relatively, the contour estimate
// may be: its own rounding.
const agreement = 1e-8

// combine makes the answer of two engines. An estimate outside the bracket is
// an internal error.
func (d *direction) combine(lower, estimate, upper float64, engine string, fast bool) (Direction, error) {
	if math.IsNaN(lower) || math.IsNaN(upper) || math.IsInf(upper, 0) || lower > upper {
		return Direction{}, &DisagreementError{Direction: d.name, Lower: lower, Estimate: estimate, Upper: upper}
	}
	if !fast {
		estimate = (2*upper + lower) / 3 // cancels the leading error of both
	}
	if estimate < lower*(1-agreement) || estimate > upper*(1+agreement) {
		return Direction{}, &DisagreementError{Direction: d.name, Lower: lower, Estimate: estimate, Upper: upper}
	}
	estimate = math.Max(lower, math.Min(upper, estimate))
	return Direction{Name: d.name, Engine: engine, Lower: lower, Estimate: estimate, Upper: upper}, nil
}
