package grids

import (
	"cmp"
	"math"
	"slices"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
)

// inflation is about the amount that spreading the steps on the grid adds to the log of the
// tilting normaliser.
func (p *planner) inflation() float64 {
	sum := 0.0
	for i, s := range p.moments {
		if s.loss == nil || p.Plans[i].Mixed || p.Plans[i].Block > 0 {
			continue
		}
		n, origin, spread := &p.nodes[i], s.pair.Origin(p.H), -numeric.Expm1(-p.H)
		weights, _, _ := n.Tilted(p.Theta)
		for j, l := range n.Loss {
			d := math.Max(l, s.lowest) - origin
			d -= math.Floor(d/p.H) * p.H
			right := -numeric.Expm1(-d) / spread
			sum += n.Count * weights[j] * ((1-right)*numeric.Expm1(-p.Theta*d) + right*numeric.Expm1(p.Theta*(p.H-d)))
		}
	}
	return sum
}

// steepestFirst is the order of the parts by the moduli of their sums' transforms at a
// frequency above few Fourier coefficients. Parts that make the others negligible come
// first. Few parts keep their order, because sorting costs more than it saves.
func (p *planner) steepestFirst(variance float64) []int {
	const negligible = -80 // as in package bracket
	order, logs := make([]int, len(p.Parts)), make([]float64, len(p.Parts))
	for i := range order {
		order[i] = i
	}
	if len(p.Parts) <= MaxBlockParts {
		return order
	}
	tilted := make([][]float64, len(p.Parts))
	for i := range p.nodes {
		if len(p.nodes[i].Loss) > 0 {
			tilted[i], _, _ = p.nodes[i].Tilted(p.Theta)
		}
	}
	for at := math.Sqrt(-2 * negligible / variance); ; at *= 2 {
		sum := 0.0
		for i, n := range p.nodes {
			logs[i] = n.LogModulus(tilted[i], at)
			if len(n.Loss) == 0 { // the Gaussian steps
				logs[i] = -0.5 * p.gaussian * at * at
			}
			sum += logs[i]
		}
		if !(sum > negligible) || at > 1/p.H {
			break
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(logs[a], logs[b]) })
	return order
}

// MaxBlockParts is the largest number of parts that blocks are tried for: with many
// parts no part has many steps.
const MaxBlockParts = 16

// manyPartsBudget is the factor of error that many parts are allowed: the budget is
// careful, and every part costs time.
const manyPartsBudget = 1.3

// choose finds the cheapest size of the final grid, between least and most points, with a
// plan for every part, or the cheapest mixture, and returns the error. Without a budget
// every step goes directly onto the grid.
func (p *planner) choose(width, budget float64, least, most int) float64 {
	best := bracket.PartPlan{Cost: math.Inf(1), Error: math.Inf(1)}
	take := func(total bracket.PartPlan, n int, h float64, routes []bracket.PartPlan) {
		if better(&total, &best, budget) {
			best, p.N, p.H, p.Plans = total, n, h, routes
		}
	}
	many := len(p.Parts) > MaxBlockParts
	if many {
		budget *= manyPartsBudget
	}
	share := budget / float64(len(p.Parts))
	cores := make([][]bulkMoments, len(p.Parts))
	for i, s := range p.moments {
		if budget > 0 && s.loss != nil && !many {
			cores[i] = s.bulks()
		}
	}
	for n := least; n <= most; n *= 2 {
		h := width / float64(n-2-edgePoints)
		for _, s := range p.moments { // one step may reach further than the window
			h = math.Max(h, s.span()/(bracket.MaxCells-4))
		}
		h = p.alignAtoms(h)
		total := bracket.PartPlan{Cost: cellCost * float64(n)}
		var routes []bracket.PartPlan
		for i, s := range p.moments {
			r := s.direct(h, many)
			if cores[i] != nil && n <= 4*maxSeparatedPoints {
				if in, ok := s.inBlocks(cores[i], h, n, share); ok && better(&in, &r, share) && p.ready(&in, i) {
					r = in
				}
			}
			routes = append(routes, r)
			total.Cost += r.Cost
			total.Error += r.Error
		}
		take(total, n, h, routes)
	}
	if len(p.Parts) == 1 && cores[0] != nil {
		if r, ok := p.moments[0].inMixture(cores[0], budget); ok && p.ready(&r, 0) {
			take(r, 0, 0, []bracket.PartPlan{r})
		}
	}
	if many && best.Error < budget {
		p.H *= math.Sqrt(budget / best.Error) // fewer cells of every part
	}
	return best.Error
}

// alignAtoms is h, widened a little so that the lowest and the highest loss of the pair of
// atoms with the largest spread both lie on the grid: atoms far apart merge at a cost of
// first order. Where other parts have atoms, too, their lowest ones come to lie just below
// a grid point, as far as that can be had.
func (p *planner) alignAtoms(h float64) float64 {
	var atoms []*lossMoments
	widest, spread := 0.0, 0.0
	for _, s := range p.moments {
		if s.loss != nil || len(s.pair.Atoms) == 0 {
			continue
		}
		atoms = append(atoms, s)
		if v := s.count * s.span() * s.span(); v > spread {
			widest, spread = s.span(), v
		}
	}
	most := math.Floor(widest / h)
	if most < 1 {
		return h
	}
	best, least := most, math.Inf(1)
	for cells := most; cells > mostWidened*most && len(atoms) > 1; cells-- {
		missed := 0.0
		for _, s := range atoms {
			if d := s.span() * cells / widest; s.span() < widest {
				missed += s.count * (d - math.Floor(d))
			}
		}
		if missed < 0.9*least {
			best, least = cells, missed
		}
	}
	return widest / best
}

// mostWidened is the least share of the cells that are left by widening.
const mostWidened = 0.95

// ready completes the plan of part i with its windows; ok is false when one is
// too large.
func (p *planner) ready(r *bracket.PartPlan, i int) (ok bool) {
	s := p.moments[i]
	r.Theta, r.Floor, r.Tail, r.LogEta = p.Theta, s.lowest, p.Tail, p.logEta
	if r.Shared = !r.Mixed; r.Shared {
		r.Division = r.Aligned(s.pair, r.Coarse)
	}
	r.Whole, ok = windows(&r.Separation, s.pair, p.nodes[i], float64(r.Block))
	if !ok || r.Mixed {
		return ok
	}
	r.Wide, ok = points(r.Whole, r.Coarse)
	return ok
}

// planner chooses the grids of a plan. It cannot make a bound wrong.
type planner struct {
	bracket.GridPlan
	moments []*lossMoments
	nodes   []bracket.Nodes
	logEta  float64
	// gaussian is μ² of the Gaussian steps
	gaussian float64
}
