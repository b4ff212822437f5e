package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/contour"
	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/accountant/pairs"
)

// epsilon brackets ε(delta) to about the relative width.
func (d *direction) epsilon(delta, width float64) (Direction, error) {
	delta, err := d.finiteDelta(delta)
	if err != nil {
		return Direction{}, err
	}
	return d.capped(func() (Direction, error) { return d.finiteEpsilon(delta, width) },
		func(plain *direction) (Direction, error) { return plain.finiteEpsilon(delta, width) })
}

// finiteEpsilon is epsilon for the finite losses.
func (d *direction) finiteEpsilon(delta, width float64) (Direction, error) {
	d.prepare(delta, func(c *bracket.Composition) float64 {
		theta, _ := c.ChernoffEpsilon(math.Log(delta))
		return theta
	})
	if d.unreliable {
		return Direction{Name: d.name}, nil
	}
	if epsilonAt, _, ok := d.exact(); ok {
		e, rest := epsilonAt(delta), 0.0
		if e > 0 { // x and μ/2 cancel near 0
			rest = 1e-14 * math.Sqrt(d.Mu2)
		}
		return d.around(e, rest), nil
	}
	tail := delta * grids.TailShare / d.Steps()
	c := d.Compose(tail, 1)
	logDelta := math.Log(delta)
	theta, bound := c.ChernoffEpsilon(logDelta)
	estimate, slope, fast := 0.0, 0.0, false
	if width < looseWidth || len(d.Parts) <= grids.MaxBlockParts { // otherwise it takes longer than a rough bracket
		estimate, slope, fast = d.contourEpsilon(c, tail, theta, bound, logDelta)
	}
	if !fast {
		estimate, slope, theta = d.coarseEpsilon(c, tail, theta, bound, delta)
	}
	if top, logMass, ok := d.largest(); ok {
		if p := delta * math.Exp(-logMass); p < 1 {
			if lower := math.Max(0, top+math.Log1p(-p)); top-lower <= width*top {
				return d.combine(lower, 0, top*(1+pairs.ExactSlack), engineExact, false)
			}
		}
		bound = math.Min(bound, top*(1+pairs.ExactSlack))
	}
	if estimate <= 0 || bound <= 0 {
		return d.nearZero(c, delta, tail, width)
	}
	b := &grids.Refiner{Losses: &d.Losses, C: c, Tail: tail, Theta: theta}
	if !fast {
		if e := b.SplitEpsilon(delta, estimate); e < 0.95*estimate {
			estimate = e
			b.Theta, _ = c.ChernoffDelta(e)
			slope = -b.Theta
		}
	}
	b.PlanEpsilon(estimate, slope, delta, width)
	lower, upper, engine := refineEpsilon(b, bound, delta, width, fast)
	return d.combine(lower, estimate, upper, engine, fast)
}

// refineEpsilon brackets ε with finer and finer grids, to the relative width if they suffice.
func refineEpsilon(b *grids.Refiner, bound, delta, width float64, fast bool) (lower, upper float64, engine string) {
	upper, engine = bound, engineChernoff
	last := math.Inf(1)
	for range 6 {
		up, lo, ok := b.Run()
		if !ok {
			break
		}
		u, okU := bracket.EpsilonUpper(up, delta)
		if !okU {
			b.Widen += 3
			continue
		}
		l := bracket.EpsilonLower(lo, delta, u)
		lower, upper, engine = math.Max(lower, l), math.Min(upper, u), engineBracket
		got := (upper - lower) / upper
		if !(got > 1.2*width) {
			break
		}
		if !fast && math.Abs(u-b.Near) > 0.05*u { // the first guess was poor
			const step = 0.02
			if s := math.Log(up.Upper(u*(1+step))/up.Upper(u)) / (step * u); s < 0 {
				b.PlanEpsilon(u, s, delta, width)
				continue
			}
		}
		if b.Full() || got > 0.7*last { // or something else limits the width
			break
		}
		last = got
		b.Refine(width / got)
	}
	return lower, upper, engine
}

// contourEpsilon is the contour engine's answer and slope d log δ/dε.
func (d *direction) contourEpsilon(c *bracket.Composition, tail, theta, start, logDelta float64) (epsilon, slope float64, ok bool) {
	if !d.smooth() {
		return 0, 0, false
	}
	k, ok := contour.NewIntegral(&d.Losses, tail, theta, c)
	if !ok {
		return 0, 0, false
	}
	return k.Epsilon(logDelta, start)
}

// around is an exact value with its declared relative error and an absolute one.
func (d *direction) around(v, rest float64) Direction {
	off := pairs.ExactSlack*v + rest
	return Direction{Name: d.name, Engine: engineExact, Lower: math.Max(0, v-off), Estimate: v, Upper: v + off}
}

// agreement is the largest relative distance of the contour estimate from its bracket: its
// own rounding.
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
