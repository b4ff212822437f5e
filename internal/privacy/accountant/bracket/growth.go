package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// growing is e^x or e^x - 1 at equidistant x, one exponential for growthBlock points. Its
// relative error is at most 11u. For e^x - 1 = b + g(1+b), b of the block's first point and
// |g(1+b)| <= |b|/4: b is wrong by 4u|b|, g by 4u, and its product adds 4u and the error of
// b times |g| <= 1/4; that is 7u|b| for a value of at least 3|b|/4, and a sum. For e^x =
// b + bg: 4u each, and two operations.
type growing struct {
	by    [growthBlock]float64 // e^{jd} - 1
	few   bool                 // e^{jd} changes too much over a block: every point has its own
	start int                  // of the block whose first e^x - 1 is known; -1: none
	first float64
}

const growthBlock = 32

// growth is for points at distance d.
func growth(d float64) *growing {
	g := &growing{start: -1, few: !(math.Abs(d)*growthBlock <= 0.2)}
	for j := range g.by {
		g.by[j] = numeric.Expm1(float64(j) * d)
	}
	return g
}

// expm1 is e^{at(i)} - 1, the points being asked for in order.
func (g *growing) expm1(i int, at func(i int) float64) float64 {
	if g.few {
		return math.Expm1(at(i))
	}
	j := i % growthBlock
	if i-j != g.start {
		g.start, g.first = i-j, math.Expm1(at(i-j))
	}
	more := g.by[j] * (1 + g.first)
	if !(4*math.Abs(more) <= math.Abs(g.first)) { // near 0 digits would cancel
		return numeric.Expm1(at(i))
	}
	return g.first + more
}

// exp is e^{at(i)}, the points being asked for in order.
func (g *growing) exp(i int, at func(i int) float64) float64 {
	if g.few {
		return math.Exp(at(i))
	}
	j := i % growthBlock
	if i-j != g.start {
		g.start, g.first = i-j, math.Exp(at(i-j))
	}
	return g.first + g.first*g.by[j]
}
