package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// cells holds the P-mass of one pair in cells of width h of its loss:
// cell i covers [origin + (first+i)h, origin + (first+i+1)h].
type cells struct {
	h, origin float64
	first     int
	// mass is the P-mass of the cell; right is the part of it that goes to the
	// cell's right end when every loss is split between the two ends with its
	// P-mass and its Q-mass kept.
	mass, right []float64
	// onGrid is the P-mass of atoms that lie on a grid point, the left end of the cell, or
	// above it by rounding; raised is the part that goes to the right end.
	onGrid, raised map[int]float64
	below          float64 // P-mass left of the first cell
	above          float64 // P-mass right of the last cell, infinite losses included
	missing        float64 // P-mass that the pair does not hold
	noise          func(theta, h float64) float64
	partial        bool    // the masses are not near 1 in sum
	relative       float64 // as that of the pair
}

// MaxCells bounds the memory of one discretisation (32 bytes a cell).
const MaxCells = 1 << 22

// discretise bins the pair with spacing h. Losses below floor and a P-mass of
// at most tail at the top are left out of the cells.
func discretise(p *pairs.Pair, h, floor, tail float64) *cells {
	c := &cells{h: h, onGrid: map[int]float64{}, raised: map[int]float64{}, above: p.Infinity, missing: p.Missing, noise: p.Noise, relative: p.Relative, partial: p.Partial}
	lowest, highest := p.Span(floor, tail)
	c.origin = p.Origin(h)
	c.first = int(math.Floor((lowest-c.origin)/h - 1e-9)) // below a lowest atom that is on a grid point but for rounding
	size := int(math.Floor((highest-c.origin)/h)) - c.first + 1
	c.mass, c.right = make([]float64, size), make([]float64, size)
	for _, piece := range p.Pieces {
		piece, cut := piece.Cut(tail)
		c.above += cut
		c.addPiece(piece)
	}
	for _, a := range p.Atoms {
		c.addAtom(a)
	}
	return c
}

// addPiece bins a continuous piece.
func (c *cells) addPiece(p pairs.Piece) {
	x := p.Lo
	start := c.origin + float64(c.first)*c.h
	if p.Loss(x) < start {
		edge := math.Min(p.Hi, p.Inverse(start))
		p.Integrate(x, edge, func(_, m float64) { c.below += m })
		x = edge
	}
	spread := -numeric.Expm1(-c.h)
	from := false // x is where the cell begins
	for i := c.cell(p.Loss(x)); x < p.Hi && i < len(c.mass); i++ {
		base := c.origin + float64(c.first+i)*c.h
		edge := p.Hi
		if i < len(c.mass)-1 {
			edge = math.Min(p.Hi, p.Inverse(base+c.h))
		}
		if edge <= x {
			from = false
			continue
		}
		mass, excess := p.Cell(x, edge, base, from)
		c.mass[i] += mass
		c.right[i] += math.Max(0, math.Min(mass, excess/spread))
		x, from = edge, true
	}
}

func (c *cells) addAtom(a pairs.Atom) {
	i := c.cell(a.Loss)
	if a.Loss < c.origin+float64(c.first)*c.h {
		c.below += a.Mass
		return
	}
	base := c.origin + float64(c.first+i)*c.h
	right := a.Mass * -numeric.Expm1(base-a.Loss) / -numeric.Expm1(-c.h)
	if a.Loss >= base && a.Loss <= base+1e-9*c.h {
		c.onGrid[i] += a.Mass
		c.raised[i] += right
		return
	}
	c.mass[i] += a.Mass
	c.right[i] += right
	c.right[i] = math.Max(0, math.Min(c.mass[i], c.right[i]))
}

// cell is the index of the cell that holds loss l.
func (c *cells) cell(l float64) int {
	i := int(math.Floor((l-c.origin)/c.h)) - c.first
	return max(0, min(len(c.mass)-1, i))
}
