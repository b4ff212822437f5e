package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// Separated is one part of a ledger divided into bulk and rare losses, tilted,
// each on its own grid, ready to be composed for any number of steps n:
//
//	(bulk + rare)^n = Σ_k binom(n, k) bulk^(n-k) rare^k.
//
// Both are sub-measures, bounded from the same side, so the sum is too.
type Separated struct {
	theta            float64
	bulk, Rare       *Lattice // rare is nil when there is none
	zBulk, zRare     normaliser
	LogBulk, LogRare float64 // their logarithms
	fine, coarse     *Convolution
	mean             float64          // of one bulk loss, tilted
	around           numeric.Window   // of the bulk's sum
	beyond           []numeric.Window // of the sum of k rare losses
	least, Most      int
	LogCounted       float64
	rareMean         float64
	others           bounds // of the factors beside the bulk
	othersMean       float64
}

// Separation is the plan of a Separated part that both bounds share.
type Separation struct {
	pairs.Division
	Theta, Floor, Tail float64
	LogEta             float64 // log of the tilted mass that may be outside a window, of what is counted
	H, Coarse          float64 // spacing of the bulk and of the rare losses
	Origin, RareOrigin float64 // of the grids
	N, CoarseN         int     // points of their rings, see Convolution
	Shared             bool    // the bulk's sum is put on the grid of the rare losses
	Around             numeric.Window
	Beyond             []numeric.Window
	Least, Most        int     // rare losses
	LogCounted         float64 // log of the tilted probability of at least the least
	Others             []Other // that the bulk's sum holds too
}

// Other is a part that is composed with the bulk of another one; losses below
// the floor are raised to it or dropped.
type Other struct {
	pairs.Part
	Floor float64
}

// Divide is the division of the pair. On a grid that rare losses share with
// the bulk they have no origin of their own.
func (g *Separation) Divide(p *pairs.Pair) (bulk, rare *pairs.Pair) {
	bulk, rare = p.Divide(g.Division)
	if g.Shared {
		rare.End = math.Inf(-1)
	}
	return bulk, rare
}

// separatedCells is a pair in the cells of its two grids, with the others in those of the bulk.
type separatedCells struct {
	*Separation
	bulkPair, rarePair *pairs.Pair
	bulk, rare         *cells // rare is nil when there is none
	beside             []*cells
}

// Discretise puts the pair in cells, which both bounds share.
func (g *Separation) Discretise(p *pairs.Pair) *separatedCells {
	c := &separatedCells{Separation: g}
	c.bulkPair, c.rarePair = g.Divide(p)
	c.bulk = discretise(c.bulkPair, g.H, g.Floor, g.Tail)
	if !c.rarePair.Empty() {
		c.rare = discretise(c.rarePair, g.Coarse, g.Floor, g.Tail)
	}
	for _, o := range g.Others {
		c.beside = append(c.beside, discretise(o.Pair, g.H, o.Floor, g.Tail))
	}
	return c
}

// Separated puts the cells on the two grids, dominating when up is set.
func (c *separatedCells) Separated(up bool) *Separated {
	g := c.Separation
	l := &Separated{theta: g.Theta, around: g.Around, beyond: g.Beyond, least: g.Least, Most: g.Most, LogCounted: g.LogCounted, LogRare: math.Inf(-1)}
	l.bulk = c.bulk.lattice(c.bulkPair.Ceiling, g.Theta, up)
	l.fine = NewConvolution(g.N, 1+len(g.Others))
	l.zBulk = l.fine.Add(l.bulk, g.Theta, 1)
	l.LogBulk = l.zBulk.Log
	l.mean = l.bulk.tiltedMean(g.Theta)
	l.others = bounds{theta: g.Theta, lambdaBelow: g.Around.LambdaBelow, lambdaAbove: g.Around.LambdaAbove}
	if len(g.Others) > 0 {
		l.fine.beside = NewConvolution(g.N, 1+len(g.Others))
	}
	for i, o := range g.Others {
		at := repeatedLattice{c.beside[i].lattice(o.Pair.Ceiling, g.Theta, up), float64(o.Count)}
		l.others.include(at, l.fine.beside.Add(at.Lattice, g.Theta, at.count))
		l.othersMean += at.count * at.tiltedMean(g.Theta)
	}
	if c.rare != nil {
		l.Rare = c.rare.lattice(c.rarePair.Ceiling, g.Theta, up)
		l.coarse = NewConvolution(g.CoarseN, 1)
		l.zRare = l.coarse.Add(l.Rare, g.Theta, 1)
		l.LogRare = l.zRare.Log
		l.rareMean = l.Rare.tiltedMean(g.Theta)
	}
	return l
}

// tiltedMean is the mean of the tilted lattice.
func (l *Lattice) tiltedMean(theta float64) float64 {
	w, _ := l.tilted(theta)
	mean := 0.0
	for i, x := range w {
		mean += x * (l.origin + float64(l.first+i)*l.H)
	}
	return mean
}

// logTotal is the log of the normaliser of n steps.
func (l *Separated) logTotal(n float64) float64 {
	return n*numeric.LogAddExp(l.LogBulk, l.LogRare) + l.others.logM
}

// infinity is the mass of n steps at infinite loss.
func (l *Separated) infinity(n float64) float64 {
	if l.Rare == nil {
		return l.others.infinity
	}
	return l.others.infinity - math.Expm1(n*math.Log1p(-l.Rare.infinity))
}

// Counts calls f with every number k of rare losses that matters among n, and
// the logarithm of its probability under the tilt, and returns the
// probability of those left out.
func (l *Separated) Counts(n float64, f func(k int, logWeight float64)) (rest float64) {
	if l.Rare == nil {
		f(0, 0)
		return 0
	}
	total := numeric.LogAddExp(l.LogBulk, l.LogRare)
	odds := l.LogRare - l.LogBulk
	logWeight := n * (l.LogBulk - total)
	for k := 0; ; k++ {
		f(k, logWeight)
		if float64(k) == n {
			return 0
		}
		next := logWeight + math.Log((n-float64(k))/float64(k+1)) + odds
		ratio := math.Exp(next - logWeight) // falls with k
		if k == l.Most || ratio < 0.5 && next < restLog+l.LogCounted {
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
func (l *Separated) weightDoubt(n float64) float64 {
	if l.Rare == nil {
		return 0
	}
	total := numeric.LogAddExp(l.LogBulk, l.LogRare)
	step := math.Abs(l.LogBulk) + math.Abs(total) + math.Abs(l.LogRare) + 1
	return 8 * numeric.Unit * (n*(math.Abs(l.LogBulk)+math.Abs(total)) + float64(l.Most)*(step+math.Log(n)))
}

// restLog is the log of a negligible probability.
const restLog = -60

// bulkSum is the sum of m bulk losses and the others.
func (l *Separated) bulkSum(m float64) *tiltedSum {
	b := l.powerBounds(l.bulk, l.zBulk, m, l.around)
	b.logM += l.others.logM
	b.doubt += l.others.doubt
	b.logBelow += l.others.logBelow
	b.logAbove += l.others.logAbove
	b.slack += l.others.slack
	return l.fine.read(m, m*l.mean+l.othersMean-l.around.Below, l.bulk.H, b)
}

// rareSum is the sum of k > 0 rare losses.
func (l *Separated) rareSum(k int) *tiltedSum {
	if k == 1 { // the lattice itself
		return l.Rare.read(l.theta)
	}
	w, n := l.beyond[min(k, len(l.beyond)-1)], float64(k)
	return l.coarse.read(n, n*l.rareMean-w.Below, l.Rare.H, l.powerBounds(l.Rare, l.zRare, n, w))
}

func (l *Separated) powerBounds(of *Lattice, z normaliser, n float64, w numeric.Window) bounds {
	b := bounds{
		theta:       l.theta,
		lambdaBelow: w.LambdaBelow, logBelow: n * of.logMoment(l.theta-w.LambdaBelow),
		lambdaAbove: w.LambdaAbove, logAbove: n * of.logMoment(l.theta+w.LambdaAbove),
	}
	b.addNormaliser(n, z)
	return b
}

// read makes one use of the lattice readable as a sum.
func (l *Lattice) read(theta float64) *tiltedSum {
	w, z := l.tilted(theta)
	n := 64
	for n < len(w) {
		n *= 2
	}
	c := make([]float64, n)
	copy(c, w)
	s := &tiltedSum{h: l.H, theta: theta, logM: z.Log, start: l.origin + float64(l.first)*l.H, infinity: l.infinity}
	s.accumulate(c, 0)
	s.relative = math.Expm1(s.rounding(n, s.start+float64(n)*l.H) + z.Doubt + z.relative + 2*massError)
	return s
}
