package grids

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// separatedLogEta is the log of the tilted mass that the bulk or the rare losses may leave
// outside their window, relative to the deciding mass.
const separatedLogEta = -39

// windows completes the plan with the windows that the sums of n steps of the
// pair need and the sizes of their rings, by Chernoff's bound on quadratures
// that are put on the grids as the masses will be. ok is false when a ring
// would be too large.
func windows(g *bracket.Separation, p *pairs.Pair, full bracket.Nodes, n float64) (whole numeric.Window, ok bool) {
	bulk, rare := g.Divide(p)
	g.Origin, g.RareOrigin = bulk.Origin(g.H), rare.Origin(g.Coarse)
	bulkNodes := onGrid(bracket.Quadrature(bulk, 1, 0, 1), g.H, g.Origin, g.Floor)
	sum := []bracket.Nodes{times(bulkNodes, n)}
	for _, o := range g.Others {
		sum = append(sum, times(onGrid(bracket.Quadrature(o.Pair, 1, g.Tail, 1), g.H, o.Pair.Origin(g.H), o.Floor), float64(o.Count)))
	}
	g.Around = sumWindow(g, sum, g.H, g.LogEta)
	if g.N, ok = points(g.Around, g.H); !ok || g.Theta*(g.Around.Below+g.Around.Above) > maxTiltedWidth {
		return whole, false
	}
	g.CoarseN = 64
	if !rare.Empty() {
		rareNodes := onGrid(bracket.Quadrature(rare, 1, g.Tail, 1), g.Coarse, g.RareOrigin, g.Floor)
		l := bracket.Separated{Rare: &bracket.Lattice{}, LogBulk: bulkNodes.LogMoment(g.Theta), LogRare: rareNodes.LogMoment(g.Theta), Most: g.Most, LogCounted: g.LogCounted}
		g.Beyond = nil
		l.Counts(n, func(k int, logWeight float64) {
			w := numeric.Window{}
			if k > 1 { // a single one needs no composition
				w = sumWindow(g, []bracket.Nodes{times(rareNodes, float64(k))}, g.Coarse, math.Min(-3, g.LogEta+g.LogCounted-logWeight))
			}
			size, fits := points(w, g.Coarse)
			g.Beyond, g.CoarseN, ok = append(g.Beyond, w), max(g.CoarseN, size), ok && fits
		})
	}
	return sumWindow(g, []bracket.Nodes{times(full, n)}, blockSpread*g.Coarse, g.LogEta+g.LogCounted), ok
}

// blockSpread is the least standard deviation, in grid points, that the window
// of a block is made for: rounding to the grid is that of every block, and the proof
// that nothing is outside must not magnify it.
const blockSpread = numeric.LargestLambda

// maxTiltedWidth bounds θ times the width of a window, so that masses that
// are no longer tilted stay within the range of a float64.
const maxTiltedWidth = 600

// times is the nodes with another number of losses.
func times(n bracket.Nodes, count float64) bracket.Nodes {
	n.Count = count
	return n
}

// sumWindow is the range in which the sum of all losses has all but e^logEta of its tilted
// mass.
func sumWindow(g *bracket.Separation, of []bracket.Nodes, h, logEta float64) numeric.Window {
	c := bracket.Composition{Nodes: of}
	mean, variance := c.Moments(g.Theta)
	w := c.Window(g.Theta, mean, math.Max(h, math.Sqrt(variance)), logEta) // h is the least scale
	w.Below += 2 * h
	w.Above += 2 * h
	return w
}

// points is the size of a ring for the window.
func points(w numeric.Window, h float64) (n int, ok bool) {
	if width := w.Below + w.Above; width >= 0 {
		return gridPoints(width, h, 64, 2*maxSeparatedPoints)
	}
	return 0, false
}

// onGrid raises the nodes to the floor and spreads them over the points of a
// grid, as bracket's cells.dominating does.
func onGrid(n bracket.Nodes, h, origin, floor float64) bracket.Nodes {
	out := bracket.Nodes{Count: n.Count, Partial: true}
	spread := -math.Expm1(-h)
	for i, l := range n.Loss {
		l = math.Max(l, floor)
		base := origin + math.Floor((l-origin)/h)*h
		right := n.Mass[i] * math.Min(1, math.Max(0, -math.Expm1(base-l)/spread))
		out.Loss = append(out.Loss, base, base+h)
		out.Mass = append(out.Mass, n.Mass[i]-right, right)
	}
	return out
}
