// Package pairs has the dominating pairs of distributions that steps are priced by, and
// the closed forms of a single step. Which sampler earns which pair is in samplers.go of
// the package above; docs/design/accounting.md has the table.
package pairs

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// Kind names a dominating pair.
type Kind uint8

const (
	Remove      Kind = iota // s, q
	Add                     // s, q
	Substitute              // s, q
	Envelope                // s, q
	GroupRemove             // s, q; n records
	GroupAdd                // s, q; n records
	BallsRemove             // s; n batches
	BallsAdd                // s; n batches
	Laplace                 // s: scale per unit shift
	Discrete                // s: σ in integers; n shift
	BlackBox                // s: ε
	Profile                 // made: a bound on a profile
)

// String is the name of the pair in messages.
func (k Kind) String() string {
	return [...]string{
		Remove: "remove", Add: "add", Substitute: "substitute", Envelope: "envelope",
		GroupRemove: "remove a group", GroupAdd: "add a group",
		BallsRemove: "balls-and-bins remove", BallsAdd: "balls-and-bins add",
		Laplace: "Laplace", Discrete: "discrete Gaussian", BlackBox: "(epsilon, delta)", Profile: "a selection",
	}[k]
}

// Key identifies a pair of distributions, so that equal steps merge.
type Key struct {
	Kind Kind
	S, Q float64
	N    int
	Made *Pair // of Profile
}

// Pair is a dominating pair seen through its privacy loss L = log(dP/dQ):
// continuous pieces and atoms, which hold the P-mass 1 - infinity - missing.
type Pair struct {
	Pieces []Piece
	Atoms  []Atom
	// infinity is P-mass that counts as infinite loss; missing is P-mass in no
	// piece or atom at all (a lower bound) or, negative, too much (an upper).
	Infinity, Missing float64
	Partial           bool // holds only a part of the outcomes: the mass is not near 1
	// noise, when set, is the log of the 2-norm of the error of the masses, each
	// tilted by e^{θ loss}, on a grid of spacing h.
	Noise    func(theta, h float64) float64
	Relative float64 // error of the masses besides, relative to each
	// lower, when set, bounds the pair from below, and the pair itself only
	// from above.
	Lower *Pair
	// end is the place at which the support of the loss ends: on the right if ceiling is
	// set, else on the left. With a small sampling rate nearly all mass is there.
	End     float64
	Ceiling bool
	// smooth: the loss has a density, so that its characteristic function decays
	// and the contour engine applies.
	Smooth bool
	// apart, when not 0, is the standard deviation of the losses above 0, which are a
	// cluster far from the others: the characteristic function revives in between.
	Apart float64
}

// Atom is P-mass at one value of the loss.
type Atom struct{ Loss, Mass float64 }

// Piece is a stretch of outcomes x in [lo, hi] along which the loss increases.
type Piece struct {
	Lo, Hi float64
	// width is the longest panel over which a 16-point Gauss rule integrates
	// the density and its tilts to full precision.
	Width float64
	// loss is L(x).
	Loss func(x float64) float64
	// logDensity is the log density under P at x, where l = loss(x).
	LogDensity func(x, l float64) float64
	// inverse is the x with loss(x) = l; ±Inf outside the range of the loss.
	Inverse func(l float64) float64
	// tail is the P-mass beyond x; nil when the piece ends at hi.
	Tail func(x float64) float64
	// ratio is set for a sampled Gaussian.
	ratio *densityRatio
}

// Cut returns the piece that ends where the P-mass beyond is at most mass, and the mass
// that was cut off.
func (p Piece) Cut(mass float64) (Piece, float64) {
	if p.Tail == nil {
		return p, 0
	}
	p.Hi = numeric.Bisect(p.Lo, p.Hi, func(x float64) bool { return p.Tail(x) <= mass })
	return p, p.Tail(p.Hi)
}

// Reach is the number of standard deviations up to which a normal density is integrated on
// its negligible side: P(Z > 14) < 1e-44.
const Reach = 14

// Far ends the search for the right cut; P(Z > 38) < 1e-315.
const Far = 38

// NewGaussian is N(μ,1) against N(0,1), x in standard deviations from the
// mean under P.
func NewGaussian(mu float64) *Pair {
	return &Pair{Smooth: true, End: math.Inf(-1), Pieces: []Piece{{
		Lo: -Reach, Hi: Far, Width: 1,
		Loss:       func(x float64) float64 { return mu*x + 0.5*mu*mu },
		LogDensity: func(x, _ float64) float64 { return -0.5*x*x - numeric.LogSqrt2Pi },
		Inverse:    func(l float64) float64 { return l/mu - 0.5*mu },
		Tail:       numeric.NormalTail,
	}}}
}

// Build makes the pair that the key names. Balls-and-bins pairs are computed by FFT and
// are not made here.
func (k Key) Build() *Pair {
	g := subsampled{k.S, k.Q}
	switch k.Kind {
	case Remove:
		return &Pair{Smooth: true, Apart: g.apart(), End: math.Log1p(-g.q), Pieces: []Piece{g.remove()}}
	case Add:
		return &Pair{Smooth: true, End: -math.Log1p(-g.q), Ceiling: true, Pieces: []Piece{g.add()}}
	case Substitute:
		return &Pair{Smooth: true, Apart: g.apart(), End: math.Inf(-1), Pieces: []Piece{g.substitutePiece()}}
	case Envelope:
		return g.envelope()
	case GroupRemove, GroupAdd:
		return NewSampledGroup(k.S, k.Q, k.N).Pair(k.Kind == GroupAdd)
	case Laplace:
		return NewLaplace(k.S)
	case Discrete:
		return NewDiscrete(k.S, k.N)
	case BlackBox:
		return NewBlackBox(k.S)
	case Profile:
		return k.Made
	}
	panic("accountant: unknown pair kind")
}

// Span is the range of losses that discretise puts into cells.
func (p *Pair) Span(floor, tail float64) (lowest, highest float64) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	for _, piece := range p.Pieces {
		cut, _ := piece.Cut(tail)
		lowest, highest = math.Min(lowest, piece.Loss(piece.Lo)), math.Max(highest, cut.Loss(cut.Hi))
	}
	for _, a := range p.Atoms {
		lowest, highest = math.Min(lowest, a.Loss), math.Max(highest, a.Loss)
	}
	return math.Min(math.Max(lowest, floor), highest), highest
}

// Origin is an offset of the grid. Of a pair whose support ends it puts that grid point
// where the mass from the end to the next point but one is when it is merged: with a tiny
// sampling rate almost all mass is there, and then almost none is spread. Of a pair with
// atoms it puts the heaviest on a grid point, unless all losses are within h: these merge at 0.
func (p *Pair) Origin(h float64) float64 {
	if len(p.Atoms) > 0 && math.IsInf(p.End, -1) {
		heaviest := p.Atoms[0]
		for _, a := range p.Atoms {
			if a.Mass > heaviest.Mass {
				heaviest = a
			}
		}
		if lowest, highest := p.Span(math.Inf(-1), 0); highest-lowest < h && !p.Partial {
			return 0
		}
		return heaviest.Loss
	}
	if math.IsInf(p.End, -1) || len(p.Pieces) == 0 {
		return 0
	}
	at := p.End
	lastAt, lastStep := math.NaN(), math.NaN()
	for range 30 {
		merged := p.mergedAtEnd(at, h)
		step := merged - at
		if math.IsNaN(merged) {
			return 0
		} else if math.Abs(step) <= 1e-9*math.Min(h, math.Abs(p.End)) {
			return merged
		}
		next := merged
		if slope := (step - lastStep) / (at - lastAt); slope < -0.05 && slope > -20 { // by secants
			next = at - step/slope
		}
		lastAt, lastStep, at = at, step, next
	}
	return at
}

// mergedAtEnd is the loss of the outcomes from the end of the support to one h beyond
// grid point `at`, merged; NaN where they are none.
func (p *Pair) mergedAtEnd(at, h float64) float64 {
	piece := p.Pieces[len(p.Pieces)-1]
	if p.Ceiling {
		piece.Lo = math.Max(piece.Lo, piece.Inverse(at-h))
	} else {
		piece.Hi = math.Min(piece.Hi, piece.Inverse(at+h))
	}
	mass, excess, ok := piece.atEnd() // P, and e^end Q - P
	if !ok {
		piece.Integrate(piece.Lo, piece.Hi, func(l, m float64) {
			mass += m
			excess += m * math.Expm1(p.End-l)
		})
	}
	if !(mass > 1e-200) {
		return math.NaN()
	}
	return p.End - math.Log1p(excess/mass)
}

// Integrate calls f(loss, mass) for the nodes of a quadrature of the density
// over [a, b], fine enough for 1e-13 relative accuracy of smooth integrands.
func (p *Piece) Integrate(a, b float64, f func(l, m float64)) {
	if !(b > a) {
		return
	}
	r := gaussRule(b-a, p.Width)
	panels := math.Ceil((b - a) / (panelShare * p.Width))
	width := (b - a) / panels
	for k := 0.0; k < panels; k++ {
		left := a + k*width
		for j, u := range r.X {
			x := left + u*width
			l := p.Loss(x)
			f(l, r.W[j]*width*math.Exp(p.LogDensity(x, l)))
		}
	}
}

// panelShare is the longest panel of Integrate over Piece.Width.
const panelShare = 0.25

// gaussRule is the rule for outcomes of that extent.
func gaussRule(extent, width float64) *numeric.Rule {
	if extent < 0.02*width {
		return &numeric.Gauss3
	}
	return &numeric.Gauss6
}

// Side is the pair that bounds from above when up is set, from below otherwise.
func (p *Pair) Side(up bool) *Pair {
	if !up && p.Lower != nil {
		return p.Lower
	}
	return p
}

// gaussPanel is a stretch of outcomes under one Gauss rule.
type gaussPanel struct{ From, Width float64 }

// Panels divides the piece. Under a large tilt a density that is not smooth has all its
// mass at the upper end of the piece. There each panel is half as wide as the one before
// it.
func (p *Piece) Panels(fine int, smooth bool) (all []gaussPanel) {
	n := int(math.Ceil((p.Hi - p.Lo) / p.Width * float64(fine)))
	width := (p.Hi - p.Lo) / float64(n)
	for i := range n {
		all = append(all, gaussPanel{p.Lo + float64(i)*width, width})
	}
	if smooth {
		return all
	}
	const halvings = 30
	last := &all[n-1]
	for range halvings {
		last.Width /= 2
		all = append(all, gaussPanel{last.From + last.Width, last.Width})
		last = &all[len(all)-1]
	}
	return all
}

// Part is count independent losses of the same pair.
type Part struct {
	Key   Key
	Count int64
	Pair  *Pair // built when the question is known
}
