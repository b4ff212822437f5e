package accountant

import "math"

// cells holds the P-mass of one pair in cells of width h of its loss:
// cell i covers [origin + (first+i)h, origin + (first+i+1)h].
type cells struct {
	h, origin float64
	first     int
	// mass is the P-mass of the cell; right is the part of it that goes to the
	// cell's right end when every loss is split between the two ends with its
	// P-mass and its Q-mass kept.
	mass, right []float64
	onGrid      map[int]float64 // P-mass of atoms that lie on a grid point, the left end of the cell: nothing to split
	below       float64         // P-mass left of the first cell
	above       float64         // P-mass right of the last cell, infinite losses included
	missing     float64         // P-mass that the pair does not hold
	noise       func(theta, h float64) float64
	partial     bool    // the masses are not near 1 in sum
	relative    float64 // as that of the pair
}

// maxCells bounds the memory of one discretisation (32 bytes a cell).
const maxCells = 1 << 22

// span is the range of losses that discretise puts into cells.
func (p *pair) span(floor, tail float64) (lowest, highest float64) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	for _, piece := range p.pieces {
		cut, _ := piece.cut(tail)
		lowest, highest = math.Min(lowest, piece.loss(piece.lo)), math.Max(highest, cut.loss(cut.hi))
	}
	for _, a := range p.atoms {
		lowest, highest = math.Min(lowest, a.loss), math.Max(highest, a.loss)
	}
	return math.Min(math.Max(lowest, floor), highest), highest
}

// discretise bins the pair with spacing h. Losses below floor and a P-mass of
// at most tail at the top are left out of the cells.
func discretise(p *pair, h, floor, tail float64) *cells {
	c := &cells{h: h, onGrid: map[int]float64{}, above: p.infinity, missing: p.missing, noise: p.noise, relative: p.relative, partial: p.partial}
	lowest, highest := p.span(floor, tail)
	c.origin = p.origin(h)
	c.first = int(math.Floor((lowest - c.origin) / h))
	size := int(math.Floor((highest-c.origin)/h)) - c.first + 1
	c.mass, c.right = make([]float64, size), make([]float64, size)
	for _, piece := range p.pieces {
		piece, cut := piece.cut(tail)
		c.above += cut
		c.addPiece(piece)
	}
	for _, a := range p.atoms {
		c.addAtom(a)
	}
	return c
}

// origin is an offset of the grid that puts the mass within h of the end of
// the support, merged, on a grid point: with a tiny sampling rate almost all
// mass is there, and then almost none is spread. Of a pair with atoms it puts the
// heaviest there.
func (p *pair) origin(h float64) float64 {
	if len(p.atoms) > 0 && math.IsInf(p.end, -1) {
		heaviest := p.atoms[0]
		for _, a := range p.atoms {
			if a.mass > heaviest.mass {
				heaviest = a
			}
		}
		return heaviest.loss
	}
	if math.IsInf(p.end, -1) || len(p.pieces) == 0 {
		return 0
	}
	piece := p.pieces[len(p.pieces)-1]
	if p.ceiling {
		piece.lo = math.Max(piece.lo, piece.inverse(p.end-h))
	} else {
		piece.hi = math.Min(piece.hi, piece.inverse(p.end+h))
	}
	var mass, excess float64 // P, and P - Q
	piece.integrate(piece.lo, piece.hi, func(l, m float64) {
		mass += m
		excess -= m * math.Expm1(-l)
	})
	if !(mass > 1e-200) {
		return 0
	}
	return -math.Log1p(-excess / mass)
}

// integrate calls f(loss, mass) for the nodes of a quadrature of the density
// over [a, b], fine enough for 1e-13 relative accuracy of smooth integrands.
func (p *piece) integrate(a, b float64, f func(l, m float64)) {
	if !(b > a) {
		return
	}
	r, width := &gauss6, 0.25*p.width
	if b-a < 0.02*p.width {
		r = &gauss3
	}
	panels := math.Ceil((b - a) / width)
	width = (b - a) / panels
	for k := 0.0; k < panels; k++ {
		left := a + k*width
		for j, u := range r.x {
			x := left + u*width
			l := p.loss(x)
			f(l, r.w[j]*width*math.Exp(p.logDensity(x, l)))
		}
	}
}

// addPiece bins a continuous piece.
func (c *cells) addPiece(p piece) {
	x := p.lo
	start := c.origin + float64(c.first)*c.h
	if p.loss(x) < start {
		edge := math.Min(p.hi, p.inverse(start))
		p.integrate(x, edge, func(_, m float64) { c.below += m })
		x = edge
	}
	spread := -math.Expm1(-c.h)
	for i := c.cell(p.loss(x)); x < p.hi && i < len(c.mass); i++ {
		base := c.origin + float64(c.first+i)*c.h
		edge := p.hi
		if i < len(c.mass)-1 {
			edge = math.Min(p.hi, p.inverse(base+c.h))
		}
		if edge <= x {
			continue
		}
		var mass, right float64
		p.integrate(x, edge, func(l, m float64) {
			mass += m
			right -= m * math.Expm1(base-l)
		})
		c.mass[i] += mass
		c.right[i] += math.Max(0, math.Min(mass, right/spread))
		x = edge
	}
}

func (c *cells) addAtom(a atom) {
	i := c.cell(a.loss)
	if a.loss < c.origin+float64(c.first)*c.h {
		c.below += a.mass
		return
	}
	base := c.origin + float64(c.first+i)*c.h
	if a.loss == base {
		c.onGrid[i] += a.mass
		return
	}
	c.mass[i] += a.mass
	c.right[i] += a.mass * -math.Expm1(base-a.loss) / -math.Expm1(-c.h)
	c.right[i] = math.Max(0, math.Min(c.mass[i], c.right[i]))
}

// cell is the index of the cell that holds loss l.
func (c *cells) cell(l float64) int {
	i := int(math.Floor((l-c.origin)/c.h)) - c.first
	return max(0, min(len(c.mass)-1, i))
}
