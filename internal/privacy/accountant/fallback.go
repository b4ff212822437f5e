package accountant

import "math"

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
	plain := &direction{name: d.name, mu2: d.mu2}
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

// coarsePoints is the size of the grid that stands in for the contour engine
// where that does not apply.
const coarsePoints = 1 << 15

// coarseEpsilon is an upper bound on ε, the slope d log δ/dε and the tilt
// there, from one small grid; bound is Chernoff's.
func (d *direction) coarseEpsilon(c *composition, tail, theta, bound, delta float64) (epsilon, slope, tilt float64) {
	b := &bracket{direction: d, c: c, tail: tail, theta: theta, near: math.Max(0, bound), atMost: coarsePoints}
	up, ok := b.runUpper()
	if !ok {
		return bound, -theta, theta
	}
	u, ok := epsilonUpper(up, delta)
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

// nearZero answers when ε is zero or nearly so: zero is claimed only when a
// bound proves δ(0) <= delta.
func (d *direction) nearZero(c *composition, delta, tail, width float64) (Direction, error) {
	theta, logBound := c.chernoffDelta(0)
	if logBound < math.Log(delta)-1e-6 {
		return Direction{Name: d.name, Engine: engineChernoff}, nil
	}
	b := &bracket{direction: d, c: c, tail: tail, theta: theta}
	b.budget = 4 * width / (theta * (1 + theta))
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
		if u, ok := epsilonUpper(up, delta); ok {
			engine = engineBracket
			upper = math.Min(upper, u)
			lower = math.Max(lower, epsilonLower(lo, delta, u))
		}
		if b.full() {
			break
		}
		b.refine(0.1)
	}
	return d.combine(lower, 0, upper, engine, false)
}
