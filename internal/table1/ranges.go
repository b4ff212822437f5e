package table1

import (
	"math"

	"d3p/internal/models/encoding"
)

// rangeCells is the number of cells of equal width, in the transformed unit, that divide a
// number's bounds.
const rangeCells = 64

// SingleValues is the range of whole numbers from which on a cell of their histogram has
// several of them.
const SingleValues = rangeCells

// place is a location and a scale, in the transformed unit.
type place struct{ center, scale float64 }

// equalCuts divide the bounds of a number into cells of equal width, in the transformed
// unit.
func equalCuts(c column, cells int) []float64 {
	cuts := make([]float64, 0, cells-1)
	for i := 1; i < cells; i++ {
		cuts = appendCut(cuts, c.declared.Untransformed(c.lower+(c.upper-c.lower)*float64(i)/float64(cells)))
	}
	return cuts
}

// wholeCuts give every whole number a cell.
func wholeCuts(c column) (cuts []float64) {
	for x := c.rawLower + 0.5; x < c.rawUpper; x++ {
		cuts = append(cuts, x)
	}
	return cuts
}

// appendCut keeps cuts ascending: a transform may round neighbours together.
func appendCut(cuts []float64, x float64) []float64 {
	if len(cuts) > 0 && !(x > cuts[len(cuts)-1]) || x-x != 0 {
		return cuts
	}
	return append(cuts, x)
}

// findPlace fits a normal, with its tails moved to the bounds, to the counts of rangeCuts
// by least squares, over a grid of centers and scales down to about a fifth of a cell. If
// the best one is not above the noise of the counts, the place is the declared scale.
func findPlace(c column, cuts, counts []float64, noise float64) (at place, found bool) {
	edges := make([]float64, 0, len(cuts)+2)
	edges = append(edges, c.lower)
	for _, x := range cuts {
		edges = append(edges, c.declared.Transformed(x))
	}
	edges = append(edges, c.upper)
	best := 25 * noise * noise // five standard deviations
	at = place{c.center, c.scale}
	width := c.upper - c.lower
	least := width / (4.7 * float64(len(cuts)+1))
	p := make([]float64, len(edges)-1)
	for scale := width / 2; scale > least; scale /= math.Sqrt2 {
		for center := c.lower; center <= c.upper; center += scale / 2 {
			below := 0.0
			inner, square := 0.0, 0.0
			for i := range p {
				above := 1.0
				if i < len(p)-1 {
					above = normalBelow((edges[i+1] - center) / scale)
				}
				p[i] = above - below
				below = above
				inner += p[i] * counts[i]
				square += p[i] * p[i]
			}
			if gain := inner * inner / square; inner > 0 && gain > best {
				best, at, found = gain, place{center, scale}, true
			}
		}
	}
	return at, found
}

func normalBelow(z float64) float64 {
	switch {
	case z < -8:
		return 0
	case z > 8:
		return 1
	}
	return math.Erfc(-z/math.Sqrt2) / 2
}

// fine are the cuts of a number's histogram, in scales from its center: eighths of a
// normal's probability in the middle, then tails.
var fine = []float64{-32, -16, -8, -4, -2.5, -1.75, -1.15, -0.67, -0.32, 0, 0.32, 0.67, 1.15, 1.75, 2.5, 4, 8, 16, 32}

// nearZero, times the upper bound, is the end of the cell of a spike at zero.
const nearZero = 1e-6

// countCuts are the cuts of the histogram to buy around a place; for whole numbers with few
// values, all of them. With spike, zero at the lower bound has a cell of its own.
func countCuts(f encoding.Field, c column, at place, spike bool) []float64 {
	if !ranged(f) {
		return wholeCuts(c)
	}
	var cuts []float64
	if spike && c.rawLower == 0 {
		cuts = append(cuts, c.rawUpper*nearZero)
		if c.whole {
			cuts[0] = 0.5
		}
	}
	for _, z := range fine {
		x := at.center + z*at.scale
		if x <= c.lower || x >= c.upper {
			continue
		}
		raw := c.declared.Untransformed(x)
		if c.whole {
			raw = math.Floor(raw) + 0.5
		}
		if raw > c.rawLower && raw < c.rawUpper {
			cuts = appendCut(cuts, raw)
		}
	}
	return cuts
}
