package accountant

import "math"

// layers is one part of a ledger divided into bulk and rare losses, tilted,
// each on its own grid, ready to be composed for any number of steps n:
//
//	(bulk + rare)^n = Σ_k binom(n, k) bulk^(n-k) rare^k.
//
// Both are sub-measures, bounded from the same side, so the sum is too.
type layers struct {
	theta            float64
	bulk, rare       *lattice // rare is nil when there is none
	zBulk, zRare     normaliser
	logBulk, logRare float64 // their logarithms
	fine, coarse     *convolution
	mean             float64  // of one bulk loss, tilted
	around           window   // of the bulk's sum
	beyond           []window // of the sum of k rare losses
	least, most      int
	logCounted       float64
	rareMean         float64
	others           bounds // of what is beside the bulk
	othersMean       float64
}

// layering is the plan of layers that both bounds share.
type layering struct {
	division
	theta, floor, tail float64
	logEta             float64 // log of the tilted mass that may be outside a window, of what is counted
	h, coarse          float64 // spacing of the bulk and of the rare losses
	origin, rareOrigin float64 // of the grids
	n, coarseN         int     // points of their rings
	shared             bool    // the bulk's sum is put on the grid of the rare losses
	around             window
	beyond             []window
	least, most        int     // rare losses
	logCounted         float64 // log of the tilted probability of at least the least
	others             []other // that the bulk's sum holds too
}

// other is a part that is composed with the bulk of another one; losses below
// the floor are raised to it or dropped.
type other struct {
	part
	floor float64
}

// divide is the division of the pair. On a grid that rare losses share with
// the bulk they have no origin of their own.
func (g *layering) divide(p *pair) (bulk, rare *pair) {
	bulk, rare = p.divide(g.division)
	if g.shared {
		rare.end = math.Inf(-1)
	}
	return bulk, rare
}

// layerCells is a pair in the cells of its two grids, with the others in those of the bulk.
type layerCells struct {
	*layering
	bulkPair, rarePair *pair
	bulk, rare         *cells // rare is nil when there is none
	beside             []*cells
}

// discretise puts the pair in cells, which both bounds share.
func (g *layering) discretise(p *pair) *layerCells {
	c := &layerCells{layering: g}
	c.bulkPair, c.rarePair = g.divide(p)
	c.bulk = discretise(c.bulkPair, g.h, g.floor, g.tail)
	if !c.rarePair.empty() {
		c.rare = discretise(c.rarePair, g.coarse, g.floor, g.tail)
	}
	for _, o := range g.others {
		c.beside = append(c.beside, discretise(o.pair, g.h, o.floor, g.tail))
	}
	return c
}

// layers puts the cells on the two grids, dominating when up is set.
func (c *layerCells) layers(up bool) *layers {
	g := c.layering
	l := &layers{theta: g.theta, around: g.around, beyond: g.beyond, least: g.least, most: g.most, logCounted: g.logCounted, logRare: math.Inf(-1)}
	l.bulk = c.bulk.lattice(c.bulkPair.ceiling, up)
	l.fine = newConvolution(g.n, 1+len(g.others))
	l.zBulk = l.fine.add(l.bulk, g.theta, 1)
	l.logBulk = l.zBulk.log
	l.mean = l.bulk.tiltedMean(g.theta)
	l.others = bounds{theta: g.theta, lambdaBelow: g.around.lambdaBelow, lambdaAbove: g.around.lambdaAbove}
	if len(g.others) > 0 {
		l.fine.beside = newConvolution(g.n, 1+len(g.others))
	}
	for i, o := range g.others {
		at := repeatedLattice{c.beside[i].lattice(o.pair.ceiling, up), float64(o.count)}
		l.others.include(at, l.fine.beside.add(at.lattice, g.theta, at.count))
		l.othersMean += at.count * at.tiltedMean(g.theta)
	}
	if c.rare != nil {
		l.rare = c.rare.lattice(c.rarePair.ceiling, up)
		l.coarse = newConvolution(g.coarseN, 1)
		l.zRare = l.coarse.add(l.rare, g.theta, 1)
		l.logRare = l.zRare.log
		l.rareMean = l.rare.tiltedMean(g.theta)
	}
	return l
}

// tiltedMean is the mean of the tilted lattice.
func (l *lattice) tiltedMean(theta float64) float64 {
	w, _ := l.tilted(theta)
	mean := 0.0
	for i, x := range w {
		mean += x * (l.origin + float64(l.first+i)*l.h)
	}
	return mean
}

// logTotal is the log of the normaliser of n steps.
func (l *layers) logTotal(n float64) float64 {
	return n*logAddExp(l.logBulk, l.logRare) + l.others.logM
}

// infinity is the mass of n steps at infinite loss.
func (l *layers) infinity(n float64) float64 {
	if l.rare == nil {
		return l.others.infinity
	}
	return l.others.infinity - math.Expm1(n*math.Log1p(-l.rare.infinity))
}

// counts calls f with every number k of rare losses that matters among n, and
// the logarithm of its probability under the tilt, and returns the
// probability of those left out.
func (l *layers) counts(n float64, f func(k int, logWeight float64)) (rest float64) {
	if l.rare == nil {
		f(0, 0)
		return 0
	}
	total := logAddExp(l.logBulk, l.logRare)
	odds := l.logRare - l.logBulk
	logWeight := n * (l.logBulk - total)
	for k := 0; ; k++ {
		f(k, logWeight)
		if float64(k) == n {
			return 0
		}
		next := logWeight + math.Log((n-float64(k))/float64(k+1)) + odds
		ratio := math.Exp(next - logWeight) // falls with k
		if k == l.most || ratio < 0.5 && next < restLog+l.logCounted {
			if ratio >= 1 {
				return 1
			}
			return math.Exp(next) / (1 - ratio)
		}
		logWeight = next
	}
}

// weightDoubt bounds the rounding of the logarithms of the weights of counts, and of
// logTotal, which multiplies them.
func (l *layers) weightDoubt(n float64) float64 {
	if l.rare == nil {
		return 0
	}
	total := logAddExp(l.logBulk, l.logRare)
	step := math.Abs(l.logBulk) + math.Abs(total) + math.Abs(l.logRare) + 1
	return 8 * unit * (n*(math.Abs(l.logBulk)+math.Abs(total)) + float64(l.most)*(step+math.Log(n)))
}

// restLog is the log of a probability that is not worth counting.
const restLog = -60

// bulkSum is the sum of m bulk losses and the others.
func (l *layers) bulkSum(m float64) *tiltedSum {
	b := l.powerBounds(l.bulk, l.zBulk, m, l.around)
	b.logM += l.others.logM
	b.doubt += l.others.doubt
	b.logBelow += l.others.logBelow
	b.logAbove += l.others.logAbove
	b.slack += l.others.slack
	return l.fine.read(m, m*l.mean+l.othersMean-l.around.below, l.bulk.h, b)
}

// rareSum is the sum of k > 0 rare losses.
func (l *layers) rareSum(k int) *tiltedSum {
	if k == 1 { // the lattice itself
		return l.rare.read(l.theta)
	}
	w, n := l.beyond[min(k, len(l.beyond)-1)], float64(k)
	return l.coarse.read(n, n*l.rareMean-w.below, l.rare.h, l.powerBounds(l.rare, l.zRare, n, w))
}

func (l *layers) powerBounds(of *lattice, z normaliser, n float64, w window) bounds {
	b := bounds{
		theta:       l.theta,
		lambdaBelow: w.lambdaBelow, logBelow: n * of.logMoment(l.theta-w.lambdaBelow),
		lambdaAbove: w.lambdaAbove, logAbove: n * of.logMoment(l.theta+w.lambdaAbove),
	}
	b.addNormaliser(n, z)
	return b
}

// read makes one use of the lattice readable as a sum.
func (l *lattice) read(theta float64) *tiltedSum {
	w, z := l.tilted(theta)
	n := 64
	for n < len(w) {
		n *= 2
	}
	c := make([]float64, n)
	copy(c, w)
	s := &tiltedSum{h: l.h, theta: theta, logM: z.log, start: l.origin + float64(l.first)*l.h, infinity: l.infinity}
	s.accumulate(c, 0)
	s.relative = math.Expm1(s.rounding(n, s.start+float64(n)*l.h) + z.doubt + z.relative + 2*massError)
	return s
}
