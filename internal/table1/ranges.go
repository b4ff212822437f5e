package table1

import (
	"math"
	"slices"

	"d3p/internal/models/encoding"
	"d3p/internal/models/special"
)

// rangeCells is the number of cells of equal width, in the transformed unit, that divide a
// number's bounds. It is odd, so that 0 is in the middle of a cell if it is in that of the
// bounds: in many tables most numbers are 0.
const rangeCells = 65

// singleValues is the range of whole numbers from which on a cell of their histogram may have
// several of them: a cell for each of 60 ages has as much noise as one of 18, and their mean four
// times the error.
const singleValues = 8

// place is a location and a scale, in the transformed unit.
type place struct{ center, scale float64 }

// equalCuts divide the bounds of a number into cells of equal width, in the transformed
// unit; whole numbers have at most one cell each.
func equalCuts(c column, cells int) []float64 {
	if c.whole && c.rawUpper-c.rawLower < rangeCells {
		return wholeCuts(c)
	}
	cuts := make([]float64, 0, cells-1)
	for i := 1; i < cells; i++ {
		x := c.declared.Untransformed(c.lower + (c.upper-c.lower)*float64(i)/float64(cells))
		if c.whole {
			x = math.Ceil(x) - 0.5
		}
		cuts = appendCut(cuts, x)
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

// sure is the signal from which on a place is not due to noise; of one that is likely the middle
// of the bounds is wrong more often.
const sure, likely = 25.0, 9.0

// findPlace fits a normal, with its tails moved to the bounds, to the counts of equalCuts
// by least squares, over a grid of centers and scales down to about a fifth of a cell. Its signal
// is what it explains, in variances of the noise: 0 if that is less than least. Then the place is
// the declared one, as it is if a declared scale explains the counts as well but for noise:
// cells that are wider than a column do not place it.
func findPlace(c column, cuts, counts []float64, noise, least float64) (at place, signal float64) {
	edges := make([]float64, 0, len(cuts)+2)
	edges = append(edges, c.lower)
	for _, x := range cuts {
		edges = append(edges, c.declared.Transformed(x))
	}
	edges = append(edges, c.upper)
	best := least
	declared := place{c.center, c.scale}
	at = declared
	width := c.upper - c.lower
	narrowest := width / (4.7 * float64(len(cuts)+1))
	for scale := width / 2; scale > narrowest; scale /= math.Sqrt2 {
		for center := c.lower; center <= c.upper; center += scale / 2 {
			if explained := explainedSquare(place{center, scale}, edges, counts) / (noise * noise); explained > best {
				best, at, signal = explained, place{center, scale}, explained
			}
		}
	}
	if c.scaled && signal > 0 && explainedSquare(declared, edges, counts) > (best-9)*noise*noise {
		at = declared
	}
	return at, signal
}

// explainedSquare is the part of the sum of squares of counts that a normal explains whose
// tails are moved to the bounds.
func explainedSquare(at place, edges, counts []float64) float64 {
	below, inner, square := 0.0, 0.0, 0.0
	for i := range len(edges) - 1 {
		above := 1.0
		if i < len(edges)-2 {
			above = normalBelow((edges[i+1] - at.center) / at.scale)
		}
		p := above - below
		below = above
		inner += p * counts[i]
		square += p * p
	}
	if inner <= 0 {
		return 0
	}
	return inner * inner / square
}

func normalBelow(z float64) float64 {
	switch {
	case z < -8:
		return 0
	case z > 8:
		return 1
	}
	return special.NormalCDF(z)
}

// fine are the cuts of a number's histogram, in scales from its center: sevenths of a
// normal's probability in the middle, then tails.
var fine = []float64{-256, -128, -64, -32, -16, -8, -4, -2.5, -1.75, -1.07, -0.57, -0.18, 0.18, 0.57, 1.07, 1.75, 2.5, 4, 8, 16, 32, 64, 128, 256}

// Beyond narrow scales from a place the cells of a histogram are wider than those of its look. Within near
// scales are nearly all records.
const narrow, near = 32, 4

// nearZero, times the upper bound, is the end of the cell of a spike at zero.
const nearZero = 1e-6

// Whole numbers with a scale of at most fewWhole have a cell each within singleReach scales.
const fewWhole, singleReach = 3, 4

// wholeCountCuts are countCuts of whole numbers: zero at the lower bound has a cell of its own, as half of the
// numbers often are, and so has each number near the place of a narrow column.
func wholeCountCuts(c column, at place) []float64 {
	var cuts []float64
	if c.rawLower == 0 {
		cuts = append(cuts, 0.5)
	}
	for _, z := range fine {
		cuts = append(cuts, math.Floor(at.center+z*at.scale)+0.5)
	}
	if at.scale <= fewWhole {
		for x := math.Floor(at.center-singleReach*at.scale) + 0.5; x < at.center+singleReach*at.scale; x++ {
			cuts = append(cuts, x)
		}
	}
	cuts = slices.DeleteFunc(cuts, func(x float64) bool { return x < c.rawLower || x > c.rawUpper })
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// countCuts are the cuts of the histogram to buy around a place; for whole numbers with few
// values, all of them. With spike, zero at the lower bound has a cell of its own.
func countCuts(f encoding.Field, c column, at place, spike bool) []float64 {
	if !ranged(f) {
		return wholeCuts(c)
	}
	var cuts []float64
	if c.whole && !c.declared.Transform.IsSet() {
		return wholeCountCuts(c, at)
	}
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
