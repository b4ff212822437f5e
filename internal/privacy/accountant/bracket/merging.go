package bracket

import (
	"maps"
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// dominated merges outcomes, randomised where needed, into groups whose total loss is a
// grid point, so that the lattice is a post-processing of the pair; mass that cannot be
// balanced is rounded down, and mass that is cut off is dropped. δ of the lattice is a
// lower bound.
//
// It takes the one of two ways to merge that leaves more of E[e^{θL}]: towards the grid
// point in the middle of the mass, or from one end of the support to the other.
func (c *cells) dominated(ceiling bool, theta float64) *Lattice {
	l := &Lattice{H: c.h, origin: c.origin, first: c.first, dropped: c.below + c.above + c.missing, noise: c.noise, relative: c.relative, Partial: c.partial}
	l.Mass = c.merged(ceiling)
	if middle := c.mergedToMiddle(); middle != nil && c.gain(middle, l.Mass, theta) > 0 {
		l.Mass = middle
	}
	return l
}

// gain is the excess of E[e^{θL}] under the masses of one list over that under another list
// on the same grid, up to a factor.
func (c *cells) gain(mass, than []float64, theta float64) (sum float64) {
	const most = 600 // e^most is finite
	loss := func(i int) float64 { return theta * (c.origin + float64(c.first+i)*c.h) }
	top := math.Max(0, loss(len(mass)-1)-most)
	step := growth(theta * c.h)
	for i, m := range mass {
		switch d := m - than[i]; {
		case d == 0:
		case top == 0:
			sum += d * step.expm1(i, loss)
		default:
			sum += d * math.Exp(loss(i)-top)
		}
	}
	return sum
}

// merged walks from one end to the other.
func (c *cells) merged(ceiling bool) []float64 {
	out := make([]float64, len(c.mass)+1)
	points := maps.Clone(c.onGrid)
	if ceiling {
		c.mergeDown(out, points)
	} else {
		c.mergeUp(out, points)
	}
	for i, m := range points {
		out[i] += m
	}
	return out
}

// middle is the grid point with the most mass in the cells beside it, or 0 where that is
// little: then both ways of merging are as good.
func (c *cells) middle() (g int) {
	const little = 0.02
	most, sum, below := 0.0, 0.0, 0.0
	atoms := len(c.onGrid) > 0
	for i, m := range c.mass {
		sum += m
		both := below + m
		if below = m; atoms {
			both += c.onGrid[i]
			sum += c.onGrid[i]
		}
		if both > most {
			g, most = i, both
		}
	}
	if most < little*sum {
		return 0
	}
	return g
}

// mergedToMiddle walks from both ends towards the grid point that has most of the mass
// beside it. The cells below it are merged upwards, those above it downwards, and the
// two cells beside it with each other at that point. Where nearly all mass is in these
// two, walking on through them would take from all larger losses what balances
// the small shares of them that are left over. nil when it does not come out even.
func (c *cells) mergedToMiddle() []float64 {
	g := c.middle()
	if g < 1 || len(c.mass) < 2 {
		return nil
	}
	left := &cells{h: c.h, mass: append([]float64{}, c.mass...), right: append([]float64{}, c.right...), onGrid: maps.Clone(c.onGrid)}
	out := make([]float64, len(c.mass)+1)
	for at := 0; at < g-1; at++ {
		if !left.balanceUp(at, g, out) {
			return nil
		}
	}
	for at := len(c.mass) - 1; at > g; at-- {
		if !left.balanceDown(at, g-1, out) {
			return nil
		}
	}
	for i, m := range left.onGrid {
		out[i] += m
	}
	left.balanceBeside(g, out)
	return out
}

// take moves the share of cell i out of the cells.
func (c *cells) take(i int, share float64) (mass float64) {
	mass = share * c.mass[i]
	c.mass[i], c.right[i] = c.mass[i]-mass, (1-share)*c.right[i]
	return mass
}

// balanceUp merges the cell at the grid point above it with what it needs of the points
// and cells from there up to cell `last`; ok is false when these do not suffice.
func (c *cells) balanceUp(at, last int, out []float64) (ok bool) {
	excess := (c.mass[at] - c.right[at]) * numeric.Expm1(c.h)
	g := at + 1
	out[g] += c.take(at, 1)
	for i := g; i <= last && excess > 0; i++ {
		d := float64(i-g) * c.h
		if m := c.onGrid[i]; m > 0 {
			share := balancing(&excess, -m*numeric.Expm1(-d))
			out[g] += share * m
			c.onGrid[i] -= share * m
		}
		if c.mass[i] > 0 && excess > 0 {
			share := balancing(&excess, -(c.mass[i]-c.right[i])*numeric.Expm1(-d)-c.right[i]*numeric.Expm1(-d-c.h))
			out[g] += c.take(i, share)
		}
	}
	return !(excess > 0)
}

// balanceDown merges the cell at the grid point below it with what it needs of the cells
// and points from there down to cell `last`; ok is false when these do not suffice.
func (c *cells) balanceDown(at, last int, out []float64) (ok bool) {
	lack := c.right[at] * -numeric.Expm1(-c.h)
	g := at
	out[g] += c.take(at, 1)
	for i := g - 1; i >= last && lack > 0; i-- {
		d := float64(g-i) * c.h
		if c.mass[i] > 0 {
			share := balancing(&lack, (c.mass[i]-c.right[i])*expm1Capped(d)+c.right[i]*expm1Capped(d-c.h))
			out[g] += c.take(i, share)
		}
		if m := c.onGrid[i]; m > 0 && lack > 0 {
			share := balancing(&lack, m*expm1Capped(d))
			out[g] += share * m
			c.onGrid[i] -= share * m
		}
	}
	return true // unbalanced mass is rounded down
}

// balancing is the share of something that brings `all` to what is wanted, and takes
// that from it.
func balancing(wanted *float64, all float64) (share float64) {
	if all >= *wanted {
		share = *wanted / all
		*wanted = 0
		return share
	}
	*wanted -= math.Max(0, all)
	return 1
}

// balanceBeside merges the two cells beside grid point g at it: with masses of higher grid
// points where the upper cell does not suffice, of lower ones where it is more than
// enough. What no grid point balances is rounded down.
func (c *cells) balanceBeside(g int, out []float64) {
	excess := (c.mass[g-1] - c.right[g-1]) * numeric.Expm1(c.h)
	whole := excess
	low := c.take(g-1, 1)
	excess -= c.right[g] * -numeric.Expm1(-c.h)
	here := c.take(g, 1)
	for i := g + 1; i < len(out) && excess > 0; i++ {
		if m := out[i]; m > 0 {
			share := balancing(&excess, -m*numeric.Expm1(-float64(i-g)*c.h))
			here += share * m
			out[i] -= share * m
		}
	}
	lack := -excess
	for i := g - 1; i >= 0 && lack > 0; i-- {
		if m := out[i]; m > 0 {
			share := balancing(&lack, m*expm1Capped(float64(g-i)*c.h))
			here += share * m
			out[i] -= share * m
		}
	}
	down := 0.0
	if excess > 0 { // nothing is left to balance this part of the lower cell
		down = excess / whole
	}
	out[g-1] += down * low
	out[g] += here + (1-down)*low
}

// mergeUp walks up from the left end of the support: the mass that waits below grid point
// g has too much Q-mass for it, and takes P-mass from the cells and the points above g
// until P and Q balance at g. It removes from points the mass that it takes.
func (c *cells) mergeUp(out []float64, points map[int]float64) {
	n := len(c.mass)
	grow := numeric.Expm1(c.h)
	for at, share := 0, 1.0; at < n; {
		waiting := share * c.mass[at]
		excess := share * (c.mass[at] - c.right[at]) * grow
		if excess <= 0 {
			if at+1 < len(out) {
				out[at+1] += waiting
			}
			at, share = at+1, 1
			continue
		}
		g := at + 1
		i, left := g, excess
		for ; i < n; i++ {
			d := float64(i-g) * c.h
			if m := points[i]; m > 0 {
				def := -m * numeric.Expm1(-d)
				if def >= left {
					b := left / def
					out[g] += waiting + b*m
					points[i] -= b * m
					at, share = i, 1
					break
				}
				left -= def
				waiting += m
				points[i] = 0
			}
			def := -(c.mass[i]-c.right[i])*numeric.Expm1(-d) - c.right[i]*numeric.Expm1(-d-c.h)
			if def >= left {
				b := left / def
				out[g] += waiting + b*c.mass[i]
				at, share = i, 1-b
				break
			}
			left -= def
			waiting += c.mass[i]
		}
		switch {
		case i < n:
		case left < excess/2: // the rest balances most of the cell: round down what remains of it
			over := left / excess * share * c.mass[at]
			out[at] += over
			out[g] += waiting - over
			return
		default:
			c.roundDown(out, points, at, share)
			return
		}
	}
}

// roundDown rounds down the share of cell at and every cell above it.
func (c *cells) roundDown(out []float64, points map[int]float64, at int, share float64) {
	out[at] += share * c.mass[at]
	for j := at + 1; j < len(c.mass); j++ {
		out[j] += c.mass[j]
	}
	for j, m := range c.onGrid {
		if j > at {
			points[j] = m
		}
	}
}

// mergeDown is the mirror image, for a support that ends on the right: the
// mass that waits above grid point g has too little Q-mass for it.
func (c *cells) mergeDown(out []float64, points map[int]float64) {
	shrink := -numeric.Expm1(-c.h)
	for at, share := len(c.mass)-1, 1.0; at >= 0; {
		waiting := share * c.mass[at]
		lack := share * c.right[at] * shrink
		if lack <= 0 {
			out[at] += waiting
			at, share = at-1, 1
			continue
		}
		g := at
		i := g - 1
		for ; i >= 0; i-- {
			d := float64(g-i) * c.h
			extra := (c.mass[i]-c.right[i])*expm1Capped(d) + c.right[i]*expm1Capped(d-c.h)
			if extra >= lack {
				b := lack / extra
				out[g] += waiting + b*c.mass[i]
				at, share = i, 1-b
				break
			}
			lack -= extra
			waiting += c.mass[i]
			if m := points[i]; m > 0 {
				extra := m * expm1Capped(d)
				if extra >= lack {
					b := lack / extra
					out[g] += waiting + b*m
					points[i] -= b * m
					at, share = i-1, 1
					break
				}
				lack -= extra
				waiting += m
				points[i] = 0
			}
		}
		if i < 0 { // a part balances with the cells below, and what remains is rounded down
			out[g] += waiting
			return
		}
	}
}

// expm1Capped is e^d - 1 without overflow; a larger value would only make a
// vanishing share smaller.
func expm1Capped(d float64) float64 { return numeric.Expm1(math.Min(d, 600)) }
