package accountant

import (
	"cmp"
	"math"
	"slices"
)

// gridPlan is how every part of a direction gets into the composition.
type gridPlan struct {
	tiltedGrid
	parts        []part
	moments      []*lossMoments
	nodes        []nodes
	plans        []partPlan
	tail, logEta float64
}

// compose computes bounds, those from above where ups is set.
func (p *gridPlan) compose(ups ...bool) []composed {
	out := make([]composed, len(ups))
	if r := &p.plans[0]; r.mixed {
		c := r.discretise(p.parts[0].pair)
		concurrently(len(ups), func(j int) {
			out[j] = c.layers(ups[j]).mixed(float64(p.parts[0].count))
		})
		return out
	}
	factors := 0
	for i, part := range p.parts {
		factors++
		if r := &p.plans[i]; r.block > 0 && part.count%r.block > 0 {
			factors++
		}
	}
	folds := make([]*gridSum, len(ups))
	for j := range folds {
		folds[j] = newGridSum(p.tiltedGrid, factors)
	}
	order := p.widestFirst()
	shared := func(at int) *cells { // of the part at that place of the order, where both bounds have the same
		if at == len(order) {
			return nil
		}
		i := order[at]
		if p.plans[i].block > 0 || p.parts[i].pair.lower != nil {
			return nil
		}
		return discretise(p.parts[i].pair, p.h, p.moments[i].lowest, p.tail)
	}
	masses := shared(0)
	for at, i := range order { // one by one: their lattices need much memory
		r, part := &p.plans[i], p.parts[i]
		var next *cells
		concurrently(len(ups)+1, func(j int) {
			switch {
			case j == len(ups):
				next = shared(at + 1)
			case r.block > 0:
				l := r.discretise(part.pair).layers(ups[j])
				folds[j].add(repeatedLattice{l.block(float64(r.block), r, ups[j]), float64(part.count / r.block)})
				if rest := part.count % r.block; rest > 0 {
					folds[j].add(repeatedLattice{l.block(float64(rest), r, ups[j]), 1})
				}
			case masses != nil:
				folds[j].add(repeatedLattice{masses.lattice(part.pair.ceiling, ups[j]), float64(part.count)})
			default:
				folds[j].add(repeatedLattice{onLattice(part.pair.side(ups[j]), p.h, p.moments[i].lowest, p.tail, ups[j]), float64(part.count)})
			}
		})
		masses = next
	}
	concurrently(len(ups), func(j int) { out[j] = folds[j].read() })
	return out
}

// same reports whether the plans have the same grids.
func (p *gridPlan) same(as *gridPlan) bool {
	return p.tiltedGrid == as.tiltedGrid && slices.EqualFunc(p.plans, as.plans, func(a, b partPlan) bool {
		return a.mixed == b.mixed && a.block == b.block && a.h == b.h && a.coarse == b.coarse
	})
}

// inflation is about what spreading the steps that go straight onto the grid adds to
// the log of the tilting normaliser.
func (p *gridPlan) inflation() float64 {
	sum := 0.0
	for i, s := range p.moments {
		if s.loss == nil || p.plans[i].mixed || p.plans[i].block > 0 {
			continue
		}
		n, origin, spread := &p.nodes[i], s.pair.origin(p.h), -math.Expm1(-p.h)
		weights, _, _ := n.tilted(p.theta)
		for j, l := range n.loss {
			d := math.Max(l, s.lowest) - origin
			d -= math.Floor(d/p.h) * p.h
			right := -math.Expm1(-d) / spread
			sum += n.count * weights[j] * ((1-right)*math.Expm1(-p.theta*d) + right*math.Expm1(p.theta*(p.h-d)))
		}
	}
	return sum
}

// widestFirst is the order of the parts by the tilted variance of their sums, the
// largest first: it leaves the fewest Fourier coefficients to the others.
func (p *gridPlan) widestFirst() []int {
	order, variance := make([]int, len(p.parts)), make([]float64, len(p.parts))
	for i, s := range p.moments {
		order[i], variance[i] = i, s.count*s.span()*s.span()
		if s.loss != nil {
			variance[i] = s.count * s.all().variance
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(variance[b], variance[a]) })
	return order
}

// concurrently calls f with every number below n at the same time.
func concurrently(n int, f func(i int)) {
	done := make(chan struct{})
	for i := range n {
		go func() {
			f(i)
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
}

// side is the pair that bounds from above when up is set, from below otherwise.
func (p *pair) side(up bool) *pair {
	if !up && p.lower != nil {
		return p.lower
	}
	return p
}

// onLattice puts a pair on a lattice that dominates it or is dominated by it.
func onLattice(p *pair, h, floor, tail float64, up bool) *lattice {
	return discretise(p, h, floor, tail).lattice(p.ceiling, up)
}

// lattice is the one that dominates, or the one that is dominated.
func (c *cells) lattice(ceiling, up bool) *lattice {
	if up {
		return c.dominating()
	}
	return c.dominated(ceiling)
}

// maxBlockParts is the largest number of parts that blocks are tried for: with many
// parts no part has many steps.
const maxBlockParts = 16

// manyPartsBudget is how much more error many parts are allowed: the budget is
// careful, and every part costs time.
const manyPartsBudget = 1.3

// choose finds the cheapest size of the final grid, between least and most
// points, with a plan for every part, or the cheapest mixture, and returns the error.
// Without a budget every step goes straight onto the grid.
func (p *gridPlan) choose(width, budget float64, least, most int) float64 {
	best := partPlan{cost: math.Inf(1), error: math.Inf(1)}
	take := func(total partPlan, n int, h float64, routes []partPlan) {
		if total.better(&best, budget) {
			best, p.n, p.h, p.plans = total, n, h, routes
		}
	}
	many := len(p.parts) > maxBlockParts
	if many {
		budget *= manyPartsBudget
	}
	share := budget / float64(len(p.parts))
	cores := make([][]bulkMoments, len(p.parts))
	for i, s := range p.moments {
		if budget > 0 && s.loss != nil && !many {
			cores[i] = s.bulks()
		}
	}
	for n := least; n <= most; n *= 2 {
		h := width / float64(n-2-edgePoints)
		for _, s := range p.moments { // one step may reach further than the window
			h = math.Max(h, s.span()/(maxCells-4))
		}
		h = p.alignAtoms(h)
		total := partPlan{cost: cellCost * float64(n)}
		var routes []partPlan
		for i, s := range p.moments {
			r := s.direct(h)
			if cores[i] != nil && n <= 4*maxLayerPoints {
				if in, ok := s.inBlocks(cores[i], h, n, share); ok && in.better(&r, share) && p.ready(&in, i) {
					r = in
				}
			}
			routes = append(routes, r)
			total.cost += r.cost
			total.error += r.error
		}
		take(total, n, h, routes)
	}
	if len(p.parts) == 1 && cores[0] != nil {
		if r, ok := p.moments[0].inMixture(cores[0], budget); ok && p.ready(&r, 0) {
			take(r, 0, 0, []partPlan{r})
		}
	}
	if many && best.error < budget {
		p.h *= math.Sqrt(budget / best.error) // fewer cells of every part
	}
	return best.error
}

// alignAtoms is h, widened a little so that the lowest and the highest loss of the pair of
// atoms with the largest spread both lie on the grid: atoms far apart merge at a cost of
// first order.
func (p *gridPlan) alignAtoms(h float64) float64 {
	widest, spread := 0.0, 0.0
	for _, s := range p.moments {
		if s.loss != nil || len(s.pair.atoms) == 0 {
			continue
		}
		if v := s.count * s.span() * s.span(); v > spread {
			widest, spread = s.span(), v
		}
	}
	if cells := math.Floor(widest / h); cells >= 1 {
		return widest / cells
	}
	return h
}

// ready completes the plan of part i with its windows; ok is false when one is
// too large.
func (p *gridPlan) ready(r *partPlan, i int) (ok bool) {
	s := p.moments[i]
	r.theta, r.floor, r.tail, r.logEta = p.theta, s.lowest, p.tail, p.logEta
	if r.shared = !r.mixed; r.shared {
		r.division = r.aligned(s.pair, r.coarse)
	}
	r.whole, ok = r.windows(s.pair, p.nodes[i], float64(r.block))
	if !ok || r.mixed {
		return ok
	}
	r.wide, ok = r.whole.points(r.coarse)
	return ok
}
