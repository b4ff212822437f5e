package grids

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/pairs"
)

const (
	maxSeparatedPoints = 1 << 19
	maxRare            = 40
	minBlock           = 16
	// a cell costs as much as this many points
	cellCost = 4
)

// gridPoints is the power of two that holds the width at spacing h.
func gridPoints(width, h float64, least, most int) (n int, ok bool) {
	n = least
	for float64(n-2)*h < width {
		if n *= 2; n > most {
			return n, false
		}
	}
	return n, true
}

// rareCount is the number of rare losses that matter if m are expected.
func rareCount(m float64) float64 { return m + 9*math.Sqrt(m+0.5) + 6 }

// divide makes the separation of the bulk's losses and the others.
func (s *lossMoments) divide(c bulkMoments, h, coarse, most float64) bracket.Separation {
	return bracket.Separation{Division: pairs.Division{Lo: s.median - c.radius, Hi: s.median + c.radius}, H: h, Coarse: coarse, Most: int(most)}
}

// direct puts every step straight onto a grid of spacing h. The error of one part among
// many is that of every loss by itself: budgets are careful enough there.
func (s *lossMoments) direct(h float64, many bool) bracket.PartPlan {
	err := s.count * h * h
	switch {
	case s.loss != nil && many:
		near := s.within(h / 6) // as bulkMoments.inflation, whose losses beyond are moved by up to h
		err = s.count * h * ((1-near.rare)*6*near.away + near.rare*h)
	case s.loss != nil:
		err = s.all().inflation(s.count, h)
	}
	return bracket.PartPlan{Error: err, Cost: cellCost * s.span() / h}
}

// inBlocks is the cheapest way to put blocks of steps on a grid of `wide` points and
// spacing h with an error of at most budget; ok is false if no way exists.
func (s *lossMoments) inBlocks(cores []bulkMoments, h float64, wide int, budget float64) (best bracket.PartPlan, ok bool) {
	best.Cost = math.Inf(1)
	if s.span()/h > bracket.MaxCells-8 {
		return best, false
	}
	for _, c := range cores {
		for block := s.count; block >= minBlock; block = math.Floor(block / 2) {
			m := block * c.rare
			terms := math.Min(block, rareCount(m))
			if terms > maxRare {
				continue
			}
			if c.rare == 0 {
				terms = 0
			}
			blocks := math.Floor(s.count / block)
			coarse := (blocks + s.count*c.rare + 1) * h * h
			if coarse > 0.7*budget {
				break
			}
			fine := math.Min(c.spacing(s.count, budget-coarse), h/2)
			n, fits := gridPoints(c.width(block), fine, 64, maxSeparatedPoints)
			if !fits || c.radius/fine > bracket.MaxCells/4 {
				continue
			}
			rounds := 1.0
			if blocks*block != s.count {
				rounds = 2
			}
			cells := (math.Min(2*c.radius, s.span()) / fine) + s.span()/h
			cost := rounds*(terms+1)*float64(2*n+wide) + cellCost*cells
			if cost < best.Cost {
				best = bracket.PartPlan{Block: int64(block), Error: coarse + c.inflation(s.count, fine), Cost: cost, Separation: s.divide(c, fine, h, terms)}
				ok = true
			}
		}
	}
	return best, ok
}

// inMixture is the cheapest mixture with an error of at most budget, or the
// finest that the number of points allows.
func (s *lossMoments) inMixture(cores []bulkMoments, budget float64) (best bracket.PartPlan, ok bool) {
	best.Cost, best.Error = math.Inf(1), math.Inf(1)
	for _, c := range cores {
		m := s.count * c.rare
		terms := math.Min(s.count, rareCount(m))
		if terms > maxRare || c.rare == 0 {
			continue
		}
		rareWidth := 1.5 * s.span()
		fine, coarse := c.spacing(s.count, budget/2), math.Sqrt(budget/2/m)
		fine = math.Min(fine, math.Max(c.radius, coarse)/4)
		n, fits := gridPoints(c.width(s.count), fine, 256, maxSeparatedPoints)
		if !fits {
			n, fine = maxSeparatedPoints, c.width(s.count)/(maxSeparatedPoints-2)
		}
		wide, fits := gridPoints(rareWidth, coarse, 256, maxSeparatedPoints)
		if !fits {
			wide, coarse = maxSeparatedPoints, rareWidth/(maxSeparatedPoints-2)
		}
		if 2*c.radius/fine > bracket.MaxCells || s.span()/coarse > bracket.MaxCells {
			continue
		}
		r := bracket.PartPlan{Mixed: true, Block: int64(s.count), Error: c.inflation(s.count, fine) + m*coarse*coarse,
			Cost:       4*(terms+1)*float64(n+wide) + cellCost*(2*c.radius/fine+s.span()/coarse),
			Separation: s.divide(c, fine, coarse, terms)}
		if better(&r, &best, budget) {
			best, ok = r, true
		}
	}
	return best, ok
}

// better prefers the cheaper of two plans within the budget, else the more accurate one.
func better(r, than *bracket.PartPlan, budget float64) bool {
	const slack = 1.01
	if r.Error <= slack*budget {
		return than.Error > slack*budget || r.Cost < than.Cost
	}
	return r.Error < 0.9*than.Error && than.Error > slack*budget
}
