package bracket

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy/accountant/pairs"
)

// Merging a pair with all losses in a few cells keeps its Rényi divergence, except for the
// loss of variance within a cell: no loss moves by a whole cell.
func TestMergingAtTheEnds(t *testing.T) {
	const h, steps, theta = 0.026, 50000, 0.92
	for _, kind := range []pairs.Kind{pairs.Remove, pairs.Add, pairs.Substitute} {
		p := pairs.Key{Kind: kind, S: 6.3, Q: 5.2e-5}.Build()
		l := onLattice(p, h, -1, 1e-20, 1, false)
		if got := steps * l.logMoment(theta); got < -1e-3 || got > 1e-3 {
			t.Errorf("%v: log E[e^{θL}] of %d merged steps is %v", kind, steps, got)
		}
	}
}

// Atoms off the grid are merged with atoms on it: the two atoms of randomised response
// keep the mean of their loss to second order in the spacing.
func TestMergingOfAtoms(t *testing.T) {
	const epsilon = 0.4
	p := pairs.NewBlackBox(epsilon)
	exact := epsilon * math.Tanh(epsilon/2)
	for _, cells := range []float64{7.3, 70.3, 700.3} {
		h := 2 * epsilon / cells
		l := onLattice(p, h, -1, 0, 1, false)
		var mass, other, mean float64
		for i, m := range l.Mass {
			loss := l.origin + float64(l.first+i)*h
			mass, other, mean = mass+m, other+m*math.Exp(-loss), mean+m*loss
		}
		if math.Abs(mass-1) > 1e-14 || math.Abs(other-1) > 1e-14 {
			t.Errorf("spacing %v: masses %v and %v", h, mass, other)
		}
		if lost := exact - mean; lost < 0 || lost > epsilon*h/4 {
			t.Errorf("spacing %v: the mean %v lost %v", h, exact, lost)
		}
	}
}

// A lattice goes onto a grid of its own spacing only.
func TestGridOfAnotherSpacing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a lattice went onto a grid of another spacing")
		}
	}()
	sum := newGridSum(TiltedGrid{Theta: 1, H: 0.1, N: 64}, 1)
	sum.add(repeatedLattice{onLattice(pairs.NewBlackBox(0.4), 0.2, -1, 0, 1, true), 1})
}

// Where nearly all mass of a step is within a cell, merging takes nothing from the large
// losses: what many steps are worth under the tilt stays near what it is without merging.
func TestMergingKeepsLargeLosses(t *testing.T) {
	const steps, theta = 65324, 19
	p := pairs.Key{Kind: pairs.Remove, S: 0.888, Q: 3.56e-6}.Build()
	for _, h := range []float64{1e-5, 2.71e-5, 1.09e-4} {
		c := discretise(p, h, -1, 1e-28)
		up, lo := steps*c.dominating().logMoment(theta), steps*c.dominated(p.Ceiling, theta).logMoment(theta)
		if lo > up || lo < 0 {
			t.Errorf("spacing %v: log E[e^{θL}] is %v merged and %v spread", h, lo, up)
		}
	}
}

// The lowest atom is kept where it lies on a grid point but for rounding.
func TestLowestAtomIsKept(t *testing.T) {
	p := pairs.NewLaplace(37.26)
	lowest, highest := p.Span(-1, 0)
	for cells := 40.0; cells < 200; cells++ {
		c := discretise(p, (highest-lowest)/cells, -1, 0)
		if c.below > 0 {
			t.Errorf("%v cells: mass %v is below", cells, c.below)
		}
	}
}

// Merging at the end of the support is as good for large losses as for small ones: those
// above 37, where 1 - e^-L is 1 in float64, have a grid, too.
func TestGridOfLargeLosses(t *testing.T) {
	p := pairs.Key{Kind: pairs.Envelope, S: 0.1465, Q: 1.0 / 528}.Build()
	_, rare := p.Divide(pairs.Division{Lo: math.Inf(-1), Hi: 40.6})
	if at := rare.Origin(0.375); !(at > 40.6 && at < 41) {
		t.Errorf("the grid of losses above 40.6 is at %v", at)
	}
}

// Merging moves losses to second order in the spacing, wherever the grid lies and whether
// the cell below or the one above the densest point has more to balance; and the merged
// step stays below the exact one.
func TestMergingIsOfSecondOrder(t *testing.T) {
	const theta = 9.0
	r := rand.New(rand.NewPCG(7, 12))
	for range 60 {
		s, q := 1+6*r.Float64(), math.Pow(10, -5+4*r.Float64())
		for _, kind := range []pairs.Kind{pairs.Remove, pairs.Add, pairs.Substitute} {
			p := pairs.Key{Kind: kind, S: s, Q: q}.Build()
			c := Composition{Nodes: []Nodes{Quadrature(p, 1, 1e-20, 1)}}
			_, variance := c.Moments(0)
			h := math.Sqrt(variance) * math.Pow(10, -1.3+1.3*r.Float64())
			l := onLattice(p, h, -1, 1e-20, theta, false)
			if lost, most := c.LogMoment(theta)-l.logMoment(theta), 0.4*theta*(1+theta)*h*h; !(lost < most) {
				t.Errorf("%v, q %v, s %v: spacing %v takes %v from log E[e^{θL}], more than %v", kind, q, s, h, lost, most)
			}
			for i := 1; i < len(l.Mass)-1; i += 1 + len(l.Mass)/10 {
				epsilon := l.origin + (float64(l.first+i)+0.5)*h
				if epsilon < 0 {
					continue
				}
				if exact, delta := pairs.SingleDelta(p, epsilon), l.delta(epsilon); delta > exact*(1+1e-9)+1e-20 {
					t.Errorf("%v, q %v, s %v: spacing %v has δ(%v) = %v above the exact %v", kind, q, s, h, epsilon, delta, exact)
				}
			}
		}
	}
}
