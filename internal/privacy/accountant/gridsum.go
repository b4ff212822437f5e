package accountant

import (
	"fmt"
	"math"
)

// tiltedGrid is the grid that both bounds of a bracket share.
type tiltedGrid struct {
	theta float64
	window
	from float64 // left end of the window
	h    float64
	n    int // grid points, a power of two
}

// repeatedLattice is a part's lattice with its number of repetitions.
type repeatedLattice struct {
	*lattice
	count float64
}

// gridSum composes parts under the tilt, on one grid.
type gridSum struct {
	tiltedGrid
	ring *convolution
	bounds
}

// newGridSum is for the given number of parts.
func newGridSum(t tiltedGrid, parts int) *gridSum {
	return &gridSum{t, newConvolution(t.n, parts), bounds{theta: t.theta, lambdaBelow: t.lambdaBelow, lambdaAbove: t.lambdaAbove}}
}

func (f *gridSum) add(p repeatedLattice) {
	if p.lattice.h != f.h {
		panic(fmt.Sprintf("accountant: a lattice of spacing %v on a grid of %v", p.lattice.h, f.h))
	}
	f.include(p, f.ring.add(p.lattice, f.tiltedGrid.theta, p.count))
}

func (f *gridSum) read() *tiltedSum { return f.ring.read(1, f.from, f.h, f.bounds) }

// include adds what is known of a part, z being its tilting normaliser.
func (b *bounds) include(p repeatedLattice, z normaliser) {
	b.addNormaliser(p.count, z)
	b.logBelow += p.count * p.logMoment(b.theta-b.lambdaBelow)
	b.logAbove += p.count * p.logMoment(b.theta+b.lambdaAbove)
	b.infinity += (1 - b.infinity) * -math.Expm1(p.count*math.Log1p(-p.infinity))
	b.doubt += p.count * p.relative
	if p.noise != nil {
		// An error of one step's tilted masses reaches the sum as a
		// convolution with the other steps, whose 1-norm is 1; the factor is for
		// products of errors, of this part (n errors of 1-norm e are at most
		// n e exp(n e)) and with a few others.
		e := p.count * math.Exp(p.noise(b.theta, p.h)-z.log)
		b.slack += 1.05 * e * math.Exp(e*math.Sqrt(float64(len(p.mass)))) * stickNorm(b.theta, p.h)
	}
}

// addNormaliser adds count losses with the tilting normaliser z.
func (b *bounds) addNormaliser(count float64, z normaliser) {
	b.logM += count * z.log
	b.doubt += count*z.doubt + 2*unit*(count*math.Abs(z.log)+math.Abs(b.logM))
}
