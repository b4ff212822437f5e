package bracket

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/pairs"
)

// somePairs has every kind of pair, in easy and in extreme settings.
func somePairs() map[string]*pairs.Pair {
	all := map[string]*pairs.Pair{
		"gaussian":  pairs.NewGaussian(0.7),
		"laplace":   pairs.NewLaplace(1.3),
		"discrete":  pairs.NewDiscrete(4, 3),
		"black box": pairs.NewBlackBox(0.4),
	}
	for name, g := range map[string]pairs.Key{"": {S: 1.5, Q: 0.01}, ", tiny rate": {S: 0.8, Q: 1e-7}, ", high rate": {S: 2, Q: 0.7}, ", little noise": {S: 0.1, Q: 0.05}, ", much noise": {S: 500, Q: 0.3}} {
		for _, kind := range []pairs.Kind{pairs.Remove, pairs.Add, pairs.Substitute, pairs.Envelope} {
			all[kind.String()+name] = pairs.Key{Kind: kind, S: g.S, Q: g.Q}.Build()
		}
	}
	return all
}

// The loss and its inverse are inverse, and the mass is 1.
func TestPairsAreDistributions(t *testing.T) {
	for name, p := range somePairs() {
		total := 0.0
		for _, a := range p.Atoms {
			total += a.Mass
		}
		for i := range p.Pieces {
			piece := p.Pieces[i]
			piece.Integrate(piece.Lo, piece.Hi, func(_, m float64) { total += m })
			for _, u := range []float64{0.2, 0.4, 0.6} {
				x := piece.Lo + u*(piece.Hi-piece.Lo)
				l := piece.Loss(x)
				if back := piece.Loss(piece.Inverse(l)); math.Abs(back-l) > 1e-9*math.Abs(l)+1e-14 {
					t.Errorf("%s: loss(inverse(%v)) = %v", name, l, back)
				}
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("%s: mass %v", name, total)
		}
	}
}

// A lattice has a closed sum for δ; the exact δ of the pair lies between those
// of its two lattices, for coarse and for fine grids, and total mass is kept.
func TestLatticesBracketOneStep(t *testing.T) {
	t.Parallel()
	for name, p := range somePairs() {
		_, top := p.Span(0, 1e-12)
		floor := -10 * top
		for _, h := range []float64{top / 3, top / 40, top / 5000} {
			c := discretise(p, h, floor, 1e-12)
			up, lo := c.dominating(), c.dominated(p.Ceiling, 1)
			for _, l := range []*Lattice{up, lo} {
				total := l.infinity + l.dropped
				for _, m := range l.Mass {
					if m < 0 {
						t.Fatalf("%s: negative mass %v", name, m)
					}
					total += m
				}
				if math.Abs(total-1) > 1e-11 {
					t.Errorf("%s, h = %v: total mass %v", name, h, total)
				}
			}
			for _, eps := range []float64{0, 0.01 * top, 0.2 * top, 0.7 * top} {
				want := pairs.SingleDelta(p, eps)
				above, below := up.delta(eps), lo.delta(eps)
				if above < want*(1-1e-9)-1e-16 || below > want*(1+1e-9)+1e-16 {
					t.Errorf("%s, h = %v, eps = %v: delta %v not in [%v, %v]", name, h, eps, want, below, above)
				}
			}
		}
	}
}

// delta is the hockey stick of the lattice.
func (l *Lattice) delta(epsilon float64) float64 {
	sum := l.infinity
	for i, m := range l.Mass {
		if loss := l.origin + float64(l.first+i)*l.H; loss > epsilon {
			sum -= m * math.Expm1(epsilon-loss)
		}
	}
	return sum
}

// The bound of the 2-norm of the tilted hockey stick holds on every grid, and is near
// to it on fine ones.
func TestStickNorm(t *testing.T) {
	for _, theta := range []float64{0.3, 2, 40} {
		for _, h := range []float64{1e-3, 0.02, 0.5} {
			for _, first := range []float64{0, 0.3, 0.9} { // of h
				square := 0.0
				for u := first * h; u < 40/theta; u += h {
					f := math.Exp(-theta*u) * -math.Expm1(-u)
					square += f * f
				}
				norm, bound := math.Sqrt(square), stickNorm(theta, h)
				if !(norm <= bound) || h == 1e-3 && bound > 1.1*norm {
					t.Errorf("tilt %g, spacing %g from %g: norm %g, bound %g", theta, h, first, norm, bound)
				}
			}
		}
	}
}
