package accountant

import "math"

// pairKind names a dominating pair.
type pairKind uint8

const (
	removePair      pairKind = iota // s, q
	addPair                         // s, q
	subPair                         // s, q
	envelopePair                    // s, q
	groupRemovePair                 // s, q; n records
	groupAddPair                    // s, q; n records
	ballsRemovePair                 // s; n batches
	ballsAddPair                    // s; n batches
	laplaceKind                     // s: scale per unit shift
	discreteKind                    // s: σ in integers; n shift
	blackBoxKind                    // s: ε
)

// String is the name of the pair in messages.
func (k pairKind) String() string {
	return [...]string{
		removePair: "remove", addPair: "add", subPair: "substitute", envelopePair: "envelope",
		groupRemovePair: "remove a group", groupAddPair: "add a group",
		ballsRemovePair: "balls-and-bins remove", ballsAddPair: "balls-and-bins add",
		laplaceKind: "Laplace", discreteKind: "discrete Gaussian", blackBoxKind: "(epsilon, delta)",
	}[k]
}

// pairKey identifies a pair of distributions, so that equal steps merge.
type pairKey struct {
	kind pairKind
	s, q float64
	n    int
}

// pair is a dominating pair seen through its privacy loss L = log(dP/dQ):
// continuous pieces and atoms, which hold the P-mass 1 - infinity - missing.
type pair struct {
	pieces []piece
	atoms  []atom
	// infinity is P-mass that counts as infinite loss; missing is P-mass in no
	// piece or atom at all (a lower bound) or, negative, too much (an upper).
	infinity, missing float64
	partial           bool // holds only a part of the outcomes: the mass is not near 1
	// noise, when set, is the log of the 2-norm of the error of the masses, each
	// tilted by e^{θ loss}, on a grid of spacing h.
	noise    func(theta, h float64) float64
	relative float64 // error of the masses besides, relative to each
	// lower, when set, bounds the pair from below, and the pair itself only
	// from above.
	lower *pair
	// end is where the support of the loss ends, on the right when ceiling is
	// set, else on the left. With a small sampling rate nearly all mass is there.
	end     float64
	ceiling bool
	// smooth: the loss has a density, so that its characteristic function decays
	// and the contour engine applies.
	smooth bool
	// apart, when not 0, is the standard deviation of the losses above 0, which are a
	// cluster far from the others: the characteristic function revives in between.
	apart float64
}

// atom is P-mass at one value of the loss.
type atom struct{ loss, mass float64 }

// piece is a stretch of outcomes x in [lo, hi] along which the loss increases.
type piece struct {
	lo, hi float64
	// width is the longest panel over which a 16-point Gauss rule integrates
	// the density and its tilts to full precision.
	width float64
	// loss is L(x).
	loss func(x float64) float64
	// logDensity is the log density under P at x, where l = loss(x).
	logDensity func(x, l float64) float64
	// inverse is the x with loss(x) = l; ±Inf outside the range of the loss.
	inverse func(l float64) float64
	// tail is the P-mass beyond x; nil when the piece ends at hi.
	tail func(x float64) float64
}

// cut returns the piece ended where the P-mass beyond is at most mass, and
// the mass that was cut off.
func (p piece) cut(mass float64) (piece, float64) {
	if p.tail == nil {
		return p, 0
	}
	p.hi = bisect(p.lo, p.hi, func(x float64) bool { return p.tail(x) <= mass })
	return p, p.tail(p.hi)
}

// reach is how many standard deviations of a normal density are integrated on
// the side where the rest is negligible: P(Z > 14) < 1e-44.
const reach = 14

// far ends the search for the right cut; P(Z > 38) < 1e-315.
const far = 38

// gaussianPair is N(μ,1) against N(0,1), x in standard deviations from the
// mean under P.
func gaussianPair(mu float64) *pair {
	return &pair{smooth: true, end: math.Inf(-1), pieces: []piece{{
		lo: -reach, hi: far, width: 1,
		loss:       func(x float64) float64 { return mu*x + 0.5*mu*mu },
		logDensity: func(x, _ float64) float64 { return -0.5*x*x - logSqrt2Pi },
		inverse:    func(l float64) float64 { return l/mu - 0.5*mu },
		tail:       normalTail,
	}}}
}

// build makes the pair that the key names. Balls-and-bins pairs put P-mass up
// to tail at infinite loss; the others do not depend on it.
func (k pairKey) build(tail float64) *pair {
	g := subsampled{k.s, k.q}
	switch k.kind {
	case removePair:
		return &pair{smooth: true, apart: g.apart(), end: math.Log1p(-g.q), pieces: []piece{removePiece(g)}}
	case addPair:
		return &pair{smooth: true, end: -math.Log1p(-g.q), ceiling: true, pieces: []piece{addPiece(g)}}
	case subPair:
		return &pair{smooth: true, apart: g.apart(), end: math.Inf(-1), pieces: []piece{g.substitutePiece()}}
	case envelopePair:
		return g.envelope()
	case groupRemovePair, groupAddPair:
		return newSampledGroup(k.s, k.q, k.n).pair(k.kind == groupAddPair)
	case ballsRemovePair, ballsAddPair:
		return ballsPair(k.s, k.n, k.kind == ballsAddPair, tail)
	case laplaceKind:
		return laplacePair(k.s)
	case discreteKind:
		return discreteGaussianPair(k.s, k.n)
	case blackBoxKind:
		return blackBoxPair(k.s)
	}
	panic("accountant: unknown pair kind")
}
