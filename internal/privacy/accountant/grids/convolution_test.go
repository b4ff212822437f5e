package grids

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// One step through the transform: the bracket holds the exact δ under any tilt,
// also where the transform's coefficients are far below the rounding of their
// squares, and where ε lies where the tilt puts hardly any mass.
func TestOneStepThroughTheTransform(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*pairs.Pair{
		"gaussian, much noise": pairs.NewGaussian(1.0 / 1500),
		"gaussian":             pairs.NewGaussian(0.5),
		"remove":               pairs.Key{Kind: pairs.Remove, S: 2, Q: 0.7}.Build(),
		"add":                  pairs.Key{Kind: pairs.Add, S: 0.8, Q: 0.3}.Build(),
		"substitute":           pairs.Key{Kind: pairs.Substitute, S: 50, Q: 0.9}.Build(),
		"envelope":             pairs.Key{Kind: pairs.Envelope, S: 1, Q: 0.01}.Build(),
	} {
		const delta = 1e-12
		epsilon := pairs.SingleEpsilon(p, delta)
		d := &bracket.Losses{Parts: []pairs.Part{{Count: 1, Pair: p}}}
		tail := delta * TailShare
		c := d.Compose(tail, 1)
		best, _ := c.ChernoffDelta(epsilon)
		for _, factor := range []float64{0.03, 0.1, 0.3, 1} {
			b := &Refiner{Losses: d, C: c, Tail: tail, Theta: factor * best, Near: epsilon, AtMost: 1 << 14}
			b.logShare = math.Min(0, math.Log(delta)+b.Theta*epsilon-c.LogMoment(b.Theta)-numeric.LogHockeyStick(b.Theta))
			up, lo, ok := b.Run()
			if !ok {
				continue
			}
			for _, e := range []float64{epsilon / 2, epsilon, 1.1 * epsilon} {
				want := pairs.SingleDelta(p, e)
				if u, l := up.Upper(e), lo.Lower(e); !(l <= want*(1+pairs.ExactSlack) && want <= u*(1+pairs.ExactSlack)) {
					t.Errorf("%s at %v of the best tilt: delta(%v) = %v, not in [%v, %v]", name, factor, e, want, l, u)
				}
			}
		}
	}
}
