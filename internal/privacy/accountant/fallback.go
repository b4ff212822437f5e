package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/accountant/pairs"
)

// capped answers by the engines. If the direction has steps that also have a bound without
// amplification (balls-and-bins, hardly any noise), it takes that bound if it is smaller or
// the engines have none.
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

// leastNoise is the noise multiplier below which sampled Gaussians are bounded without
// their sampling. Their losses grow to 1/(2·leastNoise²) per step, and grids with them, for
// runs with no privacy to speak of.
const leastNoise = 0.01

// faint reports that the part is a sampled Gaussian of hardly any noise.
func faint(p pairs.Part) bool { return p.Key.Kind <= pairs.BallsAdd && p.Key.S < leastNoise }

// shift is the distance by which the sum moves if the batch is known, in the unit of Key.S.
func shift(k pairs.Key) float64 {
	switch k.Kind {
	case pairs.Substitute: // from one side to the other
		return 2
	case pairs.GroupRemove, pairs.GroupAdd:
		return float64(k.N)
	}
	return 1
}

// unamplified is the direction with every balls-and-bins epoch, and every step of hardly
// any noise, replaced by its one Gaussian step with known batches: a bound by joint
// convexity. nil without such epochs and steps.
func (d *direction) unamplified() *direction {
	plain := &direction{name: d.name, Losses: bracket.Losses{Mu2: d.Mu2}}
	found := false
	for _, p := range d.Parts {
		if p.Key.Kind == pairs.BallsRemove || p.Key.Kind == pairs.BallsAdd || faint(p) {
			found = true
			mu := shift(p.Key) / p.Key.S
			plain.Mu2 += float64(p.Count) * mu * mu
			continue
		}
		plain.Parts = append(plain.Parts, p)
	}
	if !found {
		return nil
	}
	return plain
}

// largest is the largest possible sum of losses and the log of its P-mass, if every loss
// has a largest value with mass (Laplace, black box). It brackets ε if the answer is close
// to pure differential privacy and no tilt has a finite width: δ(ε) >= P(top)(1-e^{ε-top}).
func (d *direction) largest() (top, logMass float64, ok bool) {
	if d.Mu2 > 0 {
		return 0, 0, false
	}
	for _, p := range d.Parts {
		best := pairs.Atom{Loss: math.Inf(-1)}
		for _, a := range p.Pair.Atoms {
			if a.Loss > best.Loss {
				best = a
			}
		}
		if len(p.Pair.Pieces) > 0 && p.Key.Kind != pairs.Laplace || p.Pair.Lower != nil || !(best.Mass > 0) || p.Key.Kind == pairs.Discrete {
			return 0, 0, false
		}
		top += float64(p.Count) * best.Loss
		logMass += float64(p.Count) * math.Log(best.Mass)
	}
	return top, logMass, true
}

// coarsePoints is the size of the grid that replaces the contour engine if that does not
// apply.
const coarsePoints = 1 << 15

// coarseEpsilon is an upper bound on ε, the slope d log δ/dε and the tilt
// there, from one small grid; bound is Chernoff's.
func (d *direction) coarseEpsilon(c *bracket.Composition, tail, theta, bound, delta float64) (epsilon, slope, tilt float64) {
	b := &grids.Refiner{Losses: &d.Losses, C: c, Tail: tail, Theta: theta, Near: math.Max(0, bound), AtMost: coarsePoints}
	up, ok := b.RunUpper()
	if !ok {
		return bound, -theta, theta
	}
	u, ok := bracket.EpsilonUpper(up, delta)
	if !ok || u >= bound {
		return bound, -theta, theta
	}
	tilt, _ = c.ChernoffDelta(u)
	const step = 0.02
	slope = math.Log(up.Upper(u*(1+step))/up.Upper(u)) / (step * u)
	if !(slope < 0) || u == 0 {
		slope = -tilt
	}
	return u, slope, tilt
}

// nearZero answers when ε is zero or nearly so: zero is claimed only when a
// bound proves δ(0) <= delta.
func (d *direction) nearZero(c *bracket.Composition, delta, tail, width float64) (Direction, error) {
	theta, logBound := c.ChernoffDelta(0)
	if logBound < math.Log(delta)-1e-6 {
		return Direction{Name: d.name, Engine: engineChernoff}, nil
	}
	b := &grids.Refiner{Losses: &d.Losses, C: c, Tail: tail, Theta: theta}
	b.Budget = 4 * width / (theta * (1 + theta))
	_, upper := c.ChernoffEpsilon(math.Log(delta))
	lower, upper, engine := 0.0, math.Max(upper, 0), engineChernoff
	for range 4 {
		up, lo, ok := b.Run()
		if !ok {
			break
		}
		if up.Upper(0) <= delta {
			return Direction{Name: d.name, Engine: engineBracket}, nil
		}
		if u, ok := bracket.EpsilonUpper(up, delta); ok {
			engine = engineBracket
			upper = math.Min(upper, u)
			lower = math.Max(lower, bracket.EpsilonLower(lo, delta, u))
		}
		if b.Full() {
			break
		}
		b.Refine(0.1)
	}
	return d.combine(lower, 0, upper, engine, false)
}
