package accountant

import (
	"math"
	"testing"
)

// One step through the transform: the bracket holds the exact δ under any tilt,
// also where the transform's coefficients are far below the rounding of their
// squares, and where ε lies where the tilt puts hardly any mass.
func TestOneStepThroughTheTransform(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*pair{
		"gaussian, much noise": gaussianPair(1.0 / 1500),
		"gaussian":             gaussianPair(0.5),
		"remove":               pairKey{kind: removePair, s: 2, q: 0.7}.build(0),
		"add":                  pairKey{kind: addPair, s: 0.8, q: 0.3}.build(0),
		"substitute":           pairKey{kind: subPair, s: 50, q: 0.9}.build(0),
		"envelope":             pairKey{kind: envelopePair, s: 1, q: 0.01}.build(0),
	} {
		const delta = 1e-12
		epsilon := singleEpsilon(p, delta)
		d := &direction{parts: []part{{count: 1, pair: p}}}
		tail := delta * tailShare
		c := d.compose(tail, 1)
		best, _ := c.chernoffDelta(epsilon)
		for _, factor := range []float64{0.03, 0.1, 0.3, 1} {
			b := &bracket{direction: d, c: c, tail: tail, theta: factor * best, near: epsilon, atMost: 1 << 14}
			b.logShare = math.Min(0, math.Log(delta)+b.theta*epsilon-c.logMoment(b.theta)-logHockeyStick(b.theta))
			up, lo, ok := b.run()
			if !ok {
				continue
			}
			for _, e := range []float64{epsilon / 2, epsilon, 1.1 * epsilon} {
				want := singleDelta(p, e)
				if u, l := up.upper(e), lo.lower(e); !(l <= want*(1+exactSlack) && want <= u*(1+exactSlack)) {
					t.Errorf("%s at %v of the best tilt: delta(%v) = %v, not in [%v, %v]", name, factor, e, want, l, u)
				}
			}
		}
	}
}
