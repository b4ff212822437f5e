package bracket

import (
	"fmt"
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// TiltedGrid is the grid that both bounds of a bracket share.
type TiltedGrid struct {
	Theta float64
	numeric.Window
	From float64 // left end of the window
	H    float64
	N    int // grid points, a power of two
}

// repeatedLattice is a part's lattice with its number of repetitions.
type repeatedLattice struct {
	*Lattice
	count float64
}

// gridSum composes parts under the tilt, on one grid.
type gridSum struct {
	TiltedGrid
	ring *Convolution
	bounds
}

// newGridSum is for the given number of parts.
func newGridSum(t TiltedGrid, parts int) *gridSum {
	return &gridSum{t, NewConvolution(t.N, parts), bounds{theta: t.Theta, lambdaBelow: t.LambdaBelow, lambdaAbove: t.LambdaAbove}}
}

func (f *gridSum) add(p repeatedLattice) {
	if p.Lattice.H != f.H {
		panic(fmt.Sprintf("accountant: a lattice of spacing %v on a grid of %v", p.Lattice.H, f.H))
	}
	f.include(p, f.ring.Add(p.Lattice, f.TiltedGrid.Theta, p.count))
}

func (f *gridSum) read() *tiltedSum { return f.ring.read(1, f.From, f.H, f.bounds) }

// include adds the bounds of a part, z being its tilting normaliser.
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
		e := p.count * math.Exp(p.noise(b.theta, p.H)-z.Log)
		b.slack += 1.05 * e * math.Exp(e*math.Sqrt(float64(len(p.Mass)))) * stickNorm(b.theta, p.H)
	}
}

// addNormaliser adds count losses with the tilting normaliser z.
func (b *bounds) addNormaliser(count float64, z normaliser) {
	b.logM += count * z.Log
	b.doubt += count*z.Doubt + 2*numeric.Unit*(count*math.Abs(z.Log)+math.Abs(b.logM))
}
