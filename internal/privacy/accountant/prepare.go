package accountant

import (
	"math"
	"slices"

	"d3p/internal/privacy/accountant/ballsandbins"
	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/accountant/pairs"
)

// exact reports the answers of closed forms and single steps; ok is false
// when the direction needs composition.
func (d *direction) exact() (epsilonAt func(delta float64) float64, deltaAt func(epsilon float64) float64, ok bool) {
	switch {
	case len(d.Parts) == 0 && d.Mu2 == 0:
		return func(float64) float64 { return 0 }, func(float64) float64 { return 0 }, true
	case len(d.Parts) == 0:
		mu := math.Sqrt(d.Mu2)
		return func(delta float64) float64 { return gaussianEpsilon(mu, delta) },
			func(epsilon float64) float64 { return gaussianDelta(mu, epsilon/mu-mu/2) }, true
	case d.Mu2 == 0 && len(d.Parts) == 1 && d.Parts[0].Count == 1 && d.Parts[0].Pair.Lower == nil:
		p := d.Parts[0].Pair
		return func(delta float64) float64 { return pairs.SingleEpsilon(p, delta) },
			func(epsilon float64) float64 { return pairs.SingleDelta(p, epsilon) }, true
	}
	return nil, nil, false
}

// prepare builds the pairs of all parts, for answers near the given delta. Pairs
// that depend on the tilt get it from tilt, applied to the same direction with
// Poisson sampling in their place.
func (d *direction) prepare(delta float64, tilt func(*bracket.Composition) float64) {
	if slices.ContainsFunc(d.Parts, faint) {
		d.unreliable = true
		return
	}
	proxy := &direction{name: d.name, Losses: bracket.Losses{Mu2: d.Mu2}}
	balls := false
	for _, p := range d.Parts {
		switch p.Key.Kind {
		case pairs.BallsRemove, pairs.BallsAdd:
			balls = true
			kind := pairs.Remove + p.Key.Kind - pairs.BallsRemove
			p.Key, p.Count = pairs.Key{Kind: kind, S: p.Key.S, Q: 1 / float64(p.Key.N)}, p.Count*int64(p.Key.N)
		}
		proxy.Parts = append(proxy.Parts, pairs.Part{Key: p.Key, Count: p.Count, Pair: p.Key.Build()})
	}
	if !balls {
		d.Parts = proxy.Parts
		return
	}
	tail := delta * grids.TailShare / proxy.Steps()
	theta := tilt(proxy.Compose(tail, 1))
	d.unreliable = false
	for i, p := range d.Parts {
		d.Parts[i].Pair = buildOrSum(p.Key, delta*ballsandbins.TailShare/d.Steps())
		if q := d.Parts[i].Pair; q.Lower != nil && !(ballsandbins.Reliable(q, theta, p.Count) && ballsandbins.Reliable(q.Lower, theta, p.Count)) {
			d.Parts[i].Pair = proxy.Parts[i].Pair
			d.unreliable = true
		}
	}
}

// prepareAt is prepare for answers at epsilon, where delta is not yet known.
func (d *direction) prepareAt(epsilon float64) {
	var logBound float64
	at := func(c *bracket.Composition) (theta float64) {
		theta, logBound = c.ChernoffDelta(epsilon)
		return theta
	}
	d.prepare(1e-30, at)
	if logBound != 0 {
		d.prepare(math.Exp(math.Max(-600, logBound))*1e-3, at)
	}
}

// smooth reports whether the contour engine applies: some loss has a density.
func (d *direction) smooth() bool {
	if d.Mu2 > 0 {
		return true
	}
	return slices.ContainsFunc(d.Parts, func(p pairs.Part) bool { return p.Pair.Smooth })
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

// buildOrSum makes the pair of the key. Balls-and-bins pairs put P-mass up to tail at
// infinite loss; the others do not depend on it.
func buildOrSum(k pairs.Key, tail float64) *pairs.Pair {
	switch k.Kind {
	case pairs.BallsRemove, pairs.BallsAdd:
		return ballsandbins.New(k.S, k.N, k.Kind == pairs.BallsAdd, tail)
	}
	return k.Build()
}
