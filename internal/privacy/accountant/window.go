package accountant

import "math"

// layerLogEta is the log of the tilted mass that a layer may leave outside its
// window, of what decides.
const layerLogEta = -39

// windows completes the plan with the windows that the sums of n steps of the
// pair need and the sizes of their rings, by Chernoff's bound on quadratures
// that are put on the grids as the masses will be. ok is false when a ring
// would be too large.
func (g *layering) windows(p *pair, full nodes, n float64) (whole window, ok bool) {
	bulk, rare := g.divide(p)
	g.origin, g.rareOrigin = bulk.origin(g.h), rare.origin(g.coarse)
	bulkNodes := quadrature(bulk, 1, 0, 1).onGrid(g.h, g.origin, g.floor)
	sum := []nodes{bulkNodes.times(n)}
	for _, o := range g.others {
		sum = append(sum, quadrature(o.pair, 1, g.tail, 1).onGrid(g.h, o.pair.origin(g.h), o.floor).times(float64(o.count)))
	}
	g.around = g.window(sum, g.h, g.logEta)
	if g.n, ok = g.around.points(g.h); !ok || g.theta*(g.around.below+g.around.above) > maxTiltedWidth {
		return whole, false
	}
	g.coarseN = 64
	if !rare.empty() {
		rareNodes := quadrature(rare, 1, g.tail, 1).onGrid(g.coarse, g.rareOrigin, g.floor)
		l := layers{rare: &lattice{}, logBulk: bulkNodes.logMoment(g.theta), logRare: rareNodes.logMoment(g.theta), most: g.most, logCounted: g.logCounted}
		g.beyond = nil
		l.counts(n, func(k int, logWeight float64) {
			w := window{}
			if k > 1 { // a single one needs no composition
				w = g.window([]nodes{rareNodes.times(float64(k))}, g.coarse, math.Min(-3, g.logEta+g.logCounted-logWeight))
			}
			size, fits := w.points(g.coarse)
			g.beyond, g.coarseN, ok = append(g.beyond, w), max(g.coarseN, size), ok && fits
		})
	}
	return g.window([]nodes{full.times(n)}, blockSpread*g.coarse, g.logEta+g.logCounted), ok
}

// blockSpread is the least standard deviation, in grid points, that the window
// of a block is made for: rounding to the grid is that of every block.
const blockSpread = 20

// maxTiltedWidth bounds θ times the width of a window, so that masses that
// are no longer tilted stay within the range of a float64.
const maxTiltedWidth = 600

// times is the nodes with another number of losses.
func (n nodes) times(count float64) nodes {
	n.count = count
	return n
}

// window is where the sum of all losses has all but e^logEta of its tilted mass.
func (g *layering) window(of []nodes, h, logEta float64) window {
	c := composition{nodes: of}
	mean, variance := c.moments(g.theta)
	w := c.window(g.theta, mean, math.Max(h, math.Sqrt(variance)), logEta) // h is the least scale
	w.below += 2 * h
	w.above += 2 * h
	return w
}

// points is the size of a ring for the window.
func (w window) points(h float64) (n int, ok bool) {
	if width := w.below + w.above; width >= 0 {
		return gridPoints(width, h, 64, 2*maxLayerPoints)
	}
	return 0, false
}

// onGrid raises the nodes to the floor and spreads them over the points of a
// grid, as cells.dominating does.
func (n nodes) onGrid(h, origin, floor float64) nodes {
	out := nodes{count: n.count, partial: true}
	spread := -math.Expm1(-h)
	for i, l := range n.loss {
		l = math.Max(l, floor)
		base := origin + math.Floor((l-origin)/h)*h
		right := n.mass[i] * math.Min(1, math.Max(0, -math.Expm1(base-l)/spread))
		out.loss = append(out.loss, base, base+h)
		out.mass = append(out.mass, n.mass[i]-right, right)
	}
	return out
}
