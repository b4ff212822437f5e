package accountant

import "math"

// itinerary is how every part of a direction gets into the composition.
type itinerary struct {
	tilt
	parts        []part
	spreads      []*spread
	nodes        []nodes
	routes       []route
	tail, logEta float64
}

// compose computes one of the two bounds.
func (p *itinerary) compose(up bool) composed {
	var folded []foldedPart
	for i, part := range p.parts {
		r := &p.routes[i]
		switch {
		case r.mixed:
			return r.layered(part.pair, up).mixed(float64(part.count))
		case r.block > 0:
			l := r.layered(part.pair, up)
			folded = append(folded, foldedPart{l.block(float64(r.block), r, up), float64(part.count / r.block)})
			if rest := part.count % r.block; rest > 0 {
				folded = append(folded, foldedPart{l.block(float64(rest), r, up), 1})
			}
		default:
			folded = append(folded, foldedPart{onLattice(part.pair.side(up), p.h, p.spreads[i].lowest, p.tail, up), float64(part.count)})
		}
	}
	return fold(folded, p.tilt)
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
	c := discretise(p, h, floor, tail)
	if up {
		return c.dominating()
	}
	return c.dominated(p.ceiling)
}

// choose finds the cheapest size of the final grid, between least and most
// points, with routes onto it, or the cheapest mixture, and returns the error.
// Without a budget every step goes straight onto the grid.
func (p *itinerary) choose(width, budget float64, least, most int) float64 {
	best := route{cost: math.Inf(1), error: math.Inf(1)}
	take := func(total route, n int, h float64, routes []route) {
		if total.better(&best, budget) {
			best, p.n, p.h, p.routes = total, n, h, routes
		}
	}
	share := budget / float64(len(p.parts))
	cores := make([][]core, len(p.parts))
	for i, s := range p.spreads {
		if budget > 0 && s.loss != nil {
			cores[i] = s.cores()
		}
	}
	for n := least; n <= most; n *= 2 {
		h := width / float64(n-2-edgePoints)
		for _, s := range p.spreads { // one step may reach further than the window
			h = math.Max(h, s.span()/(maxCells-4))
		}
		total := route{cost: cellCost * float64(n)}
		var routes []route
		for i, s := range p.spreads {
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
		if r, ok := p.spreads[0].inMixture(cores[0], budget); ok && p.ready(&r, 0) {
			take(r, 0, 0, []route{r})
		}
	}
	return best.error
}

// ready completes a route of part i with its windows; ok is false when one is
// too large.
func (p *itinerary) ready(r *route, i int) (ok bool) {
	s := p.spreads[i]
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
