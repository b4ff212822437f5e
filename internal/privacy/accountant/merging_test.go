package accountant

import (
	"math"
	"testing"
)

// A pair whose losses all lie in a few cells keeps its Rényi divergence when it is merged,
// but for what its variance loses: nothing is moved by a whole cell.
func TestMergingAtTheEnds(t *testing.T) {
	const h, steps, theta = 0.026, 50000, 0.92
	for _, kind := range []pairKind{removePair, addPair, subPair} {
		p := pairKey{kind: kind, s: 6.3, q: 5.2e-5}.build(0)
		l := onLattice(p, h, -1, 1e-20, false)
		if got := steps * l.logMoment(theta); got < -1e-3 || got > 1e-3 {
			t.Errorf("%v: log E[e^{θL}] of %d merged steps is %v", kind, steps, got)
		}
	}
}

// Atoms off the grid are merged with atoms on it: the two atoms of randomised response
// keep the mean of their loss to second order in the spacing.
func TestMergingOfAtoms(t *testing.T) {
	const epsilon = 0.4
	p := blackBoxPair(epsilon)
	exact := epsilon * math.Tanh(epsilon/2)
	for _, cells := range []float64{7.3, 70.3, 700.3} {
		h := 2 * epsilon / cells
		l := onLattice(p, h, -1, 0, false)
		var mass, other, mean float64
		for i, m := range l.mass {
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
	sum := newGridSum(tiltedGrid{theta: 1, h: 0.1, n: 64}, 1)
	sum.add(repeatedLattice{onLattice(blackBoxPair(0.4), 0.2, -1, 0, true), 1})
}

// The tilt of Chernoff's bound on Laplace noise lies at the largest loss: the quadrature
// resolves the density below it. δ of four steps near the largest sum is that of the
// largest sum alone and of the sums with one loss below it.
func TestQuadratureAtTheLargestLoss(t *testing.T) {
	const b, theta = 5.0, 6249.0
	n := quadrature(laplacePair(b), 1, 0, 1)
	// E[e^{θ(L-1/b)}] = 1/2 + ∫ e^{-u/2} e^{-θu}/4 du over losses 1/b - u, and the lower atom
	want := 0.5 + 0.25/(theta+0.5)
	if got := math.Exp(n.logMoment(theta) - theta/b); math.Abs(got-want) > 1e-12 {
		t.Errorf("E[e^{θ(L-1/b)}] = %v, want %v", got, want)
	}
}
