package accountant

import "math"

// pairKind names a dominating pair.
type pairKind uint8

const (
	removePair      pairKind = iota // s, q
	addPair                         // s, q
	subPair                         // s, q
	envelopePair                    // s, q
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
	// noise, when set, is the log of the 2-norm of the error of the masses, each
	// tilted by e^{θ loss}, on a grid of spacing h.
	noise func(theta, h float64) float64
	// lower, when set, bounds the pair from below, and the pair itself only
	// from above.
	lower *pair
	// end is where the support of the loss ends, on the right when ceiling is
	// set, else on the left. With a small sampling rate nearly all mass is there.
	end     float64
	ceiling bool
	// smooth: the loss has a density, so that its characteristic function
	// decays without reviving and the contour engine applies.
	smooth bool
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

// subsampled is the common part of the pairs of a sampled Gaussian: shift 1,
// noise standard deviation s, sampling rate q.
type subsampled struct{ s, q float64 }

// loss is L(x) = log((1-q) + q e^{(2x-1)/(2s²)}), relatively precise near 0.
func (g subsampled) loss(x float64) float64 {
	y := (2*x - 1) / (2 * g.s * g.s)
	if y > 30 {
		return y + math.Log(g.q) + math.Log1p((1-g.q)/g.q*math.Exp(-y))
	}
	return math.Log1p(g.q * math.Expm1(y))
}

// inverse is the x where loss(x) = l, -Inf at and below log(1-q).
func (g subsampled) inverse(l float64) float64 {
	if l > 30 {
		return g.s*g.s*(l-math.Log(g.q)+math.Log1p(-(1-g.q)*math.Exp(-l))) + 0.5
	}
	z := math.Expm1(l) / g.q
	if z <= -1 {
		return math.Inf(-1)
	}
	return g.s*g.s*math.Log1p(z) + 0.5
}

// logNoise is the log density of N(0, s²) at x.
func (g subsampled) logNoise(x float64) float64 {
	z := x / g.s
	return -0.5*z*z - logSqrt2Pi - math.Log(g.s)
}

// mixtureTail is the mass of (1-q)N(0,s²) + qN(1,s²) beyond x.
func (g subsampled) mixtureTail(x float64) float64 {
	return (1-g.q)*normalTail(x/g.s) + g.q*normalTail((x-1)/g.s)
}

// panel resolves the noise (scale s) and the bend of the loss (scale s²).
func (g subsampled) panel() float64 { return math.Min(g.s, 2*g.s*g.s) }

// removePiece is P = (1-q)N(0,s²) + qN(1,s²) against Q = N(0,s²).
func (g subsampled) removePiece() piece {
	logS := math.Log(g.s)
	return piece{
		lo: -reach * g.s, hi: 1 + far*g.s, width: g.panel(),
		loss: g.loss,
		logDensity: func(x, l float64) float64 {
			z := x / g.s
			return l - 0.5*z*z - logSqrt2Pi - logS
		},
		inverse: g.inverse,
		tail:    g.mixtureTail,
	}
}

// addPiece is the remove pair with P and Q exchanged, in the mirrored
// coordinate -x, along which its loss increases.
func (g subsampled) addPiece() piece {
	logS := math.Log(g.s)
	return piece{
		lo: -1 - reach*g.s, hi: far * g.s, width: g.panel(),
		loss: func(x float64) float64 { return -g.loss(-x) },
		logDensity: func(x, _ float64) float64 {
			z := x / g.s
			return -0.5*z*z - logSqrt2Pi - logS
		},
		inverse: func(l float64) float64 { return -g.inverse(-l) },
		tail:    func(x float64) float64 { return normalTail(x / g.s) },
	}
}

// substitutePiece is P = (1-q)N(0,s²) + qN(1,s²) against
// Q = (1-q)N(0,s²) + qN(-1,s²).
func (g subsampled) substitutePiece() piece {
	p := g.removePiece()
	p.lo = -1 - reach*g.s
	logS := math.Log(g.s)
	p.loss = func(x float64) float64 { return g.loss(x) - g.loss(-x) }
	p.logDensity = func(x, _ float64) float64 {
		z := x / g.s
		return g.loss(x) - 0.5*z*z - logSqrt2Pi - logS
	}
	p.inverse = func(l float64) float64 {
		// x = s² (l/2 + asinh(sinh(l/2) (1-q)/q e^{1/(2s²)})), in logs when large
		a := math.Abs(l) / 2
		scale := math.Log((1-g.q)/g.q) + 1/(2*g.s*g.s)
		logArg := scale + logSinh(a)
		var inv float64
		if logArg > 18 {
			inv = logArg + math.Ln2
		} else {
			inv = math.Asinh(math.Exp(logArg))
		}
		return math.Copysign(g.s*g.s*(a+inv), l)
	}
	return p
}

// logSinh is log sinh(a) for a >= 0.
func logSinh(a float64) float64 {
	if a < 18 {
		return math.Log(math.Sinh(a))
	}
	return a - math.Ln2
}

// envelope has the privacy profile max(remove, add): remove's losses above 0,
// add's below, and an atom between (docs/accounting.md).
func (g subsampled) envelope() *pair {
	up, down := g.removePiece(), g.addPiece()
	up.lo, down.hi, down.tail = 0.5, -0.5, nil
	return &pair{
		smooth: true, end: math.Inf(-1),
		pieces: []piece{down, up},
		atoms:  []atom{{0, (1 - g.q) * math.Erf(1/(2*math.Sqrt2*g.s))}},
	}
}

// build makes the pair that the key names. Balls-and-bins pairs are computed
// for use near the tilt theta with P-mass up to tail at infinite loss; the
// others do not depend on either.
func (k pairKey) build(theta, tail float64) *pair {
	g := subsampled{k.s, k.q}
	switch k.kind {
	case removePair:
		return &pair{smooth: true, end: math.Log1p(-g.q), pieces: []piece{g.removePiece()}}
	case addPair:
		return &pair{smooth: true, end: -math.Log1p(-g.q), ceiling: true, pieces: []piece{g.addPiece()}}
	case subPair:
		return &pair{smooth: true, end: math.Inf(-1), pieces: []piece{g.substitutePiece()}}
	case envelopePair:
		return g.envelope()
	case ballsRemovePair, ballsAddPair:
		return ballsPair(k.s, k.n, k.kind == ballsAddPair, theta, tail)
	case laplaceKind:
		return laplacePair(k.s)
	case discreteKind:
		return discreteGaussianPair(k.s, k.n)
	case blackBoxKind:
		return blackBoxPair(k.s)
	}
	panic("accountant: unknown pair kind")
}
