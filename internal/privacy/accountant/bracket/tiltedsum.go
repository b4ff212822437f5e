package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// Composed is the law of a sum of losses as the hockey stick sees it: bounds
// on δ(ε), good on a stretch of losses.
type Composed interface {
	Upper(epsilon float64) float64 // when the lattices dominate
	Lower(epsilon float64) float64 // when they are dominated
	Stretch() (start, end, h float64)
}

// tiltedSum is the distribution of a sum of losses, tilted by e^{θL}, on a
// window of grid points. δ(ε) at any ε takes O(1) from it.
type tiltedSum struct {
	h, theta float64
	logM     float64 // log of the tilting normaliser
	start    float64 // loss of point 0
	// stick[k] = Σ_{j>=k} mass[j] e^{-θ(l_j-l_k)} (1-e^{-(l_j-l_k)}),
	// mass[k] = Σ_{j>=k} mass[j] e^{-θ(l_j-l_k)}
	stick, mass []float64
	point       []float64 // the tilted masses themselves
	noise       float64   // 2-norm of their rounding errors
	outside     float64   // tilted mass outside the window
	tiny        float64   // a mass that may be left out: all such have a 2-norm within the allowance
	allowance   float64   // aliasing and rounding, in units of the sum
	relative    float64   // rounding of the normaliser and of the sums
	infinity    float64
}

// bounds are the bounds on a sum of losses apart from its masses on the ring.
type bounds struct {
	theta, logM float64
	// logarithms of E[e^{(θ±λ)L}] and the λ, for Chernoff's bound on the mass outside the
	// window
	lambdaBelow, logBelow, lambdaAbove, logAbove float64
	doubt                                        float64 // error of logM, and the relative one of the masses before composition
	slack                                        float64 // error of the masses before composition, in units of the sum
	infinity                                     float64
}

// read makes the sum of the convolution to a power readable: the window of
// all its points from the loss `from` on.
func (r *Convolution) read(power, from, h float64, b bounds) *tiltedSum {
	c := r.Sequence(power)
	n := len(c)
	offset, shifted := r.origins(power)
	first := int(math.Floor((from - offset) / h))
	s := &tiltedSum{h: h, theta: b.theta, logM: b.logM, start: offset + float64(first)*h, infinity: b.infinity}
	end := s.start + float64(n-1)*h
	s.accumulate(c, first-shifted)
	s.relative = math.Expm1(s.rounding(n, end) + b.doubt + r.Relative(power))
	s.outside = (1 + s.relative) * (math.Exp(b.logAbove-s.logM-b.lambdaAbove*end) + math.Exp(b.logBelow-s.logM+b.lambdaBelow*s.start))
	s.noise = r.Noise
	s.tiny = s.noise / math.Sqrt(float64(n))
	s.allowance = (s.outside+Crowd)*largestStick(b.theta) + s.noise*math.Min(stickNorm(b.theta, h), largestStick(b.theta)*math.Sqrt(float64(n))) + b.slack
	return s
}

// rounding bounds what reading the sum of n points, the last at the loss end, adds
// to the logarithm of its value: the recursion of accumulate and one exponential.
func (s *tiltedSum) rounding(n int, end float64) float64 {
	return numeric.Unit * (12*float64(n) + 8*(4+math.Abs(s.logM)+s.theta*(math.Abs(s.start)+math.Abs(end))))
}

// largestStick is the maximum of the tilted hockey stick e^{-θu}(1-e^{-u}).
func largestStick(theta float64) float64 { return math.Exp(numeric.LogHockeyStick(theta)) }

// stickNorm bounds the 2-norm of the tilted hockey stick on any grid of spacing h.
func stickNorm(theta, h float64) float64 {
	top := largestStick(theta)
	return math.Sqrt(1/(2*theta*(1+2*theta)*(1+theta)*h) + 2*top*top)
}

// accumulate fills mass and stick from masses on a ring whose entry for grid
// point 0 of the window is at index from. All terms are positive: nothing cancels.
func (s *tiltedSum) accumulate(c []float64, from int) {
	n := len(c)
	s.point, s.mass, s.stick = make([]float64, n), make([]float64, n+1), make([]float64, n+1)
	decay, one := math.Exp(-s.theta*s.h), -math.Expm1(-s.h)
	for k := n - 1; k >= 0; k-- {
		x := c[Mod(from+k, n)]
		s.point[k] = x
		s.stick[k] = decay * (one*s.mass[k+1] + (1-one)*s.stick[k+1])
		s.mass[k] = x + decay*s.mass[k+1]
	}
}

// at is the hockey stick of the tilted sum at epsilon, relative to e^{-θε};
// left of the window all of its mass counts.
func (s *tiltedSum) at(epsilon float64) float64 {
	k := math.Max(0, math.Ceil((epsilon-s.start)/s.h))
	if !(k < float64(len(s.mass)-1)) {
		return 0
	}
	gap := s.start + k*s.h - epsilon // from epsilon up to point k
	return math.Exp(-s.theta*gap) * (-math.Expm1(-gap)*s.mass[int(k)] + math.Exp(-gap)*s.stick[int(k)])
}

func (s *tiltedSum) Upper(epsilon float64) float64 {
	return atMostOne(math.Exp(s.logM-s.theta*epsilon)*(s.at(epsilon)+s.allowance)*(1+s.relative) + s.infinity)
}

// atMostOne is the bound v on δ, at most 1; it is 1 if v is not a number, as far from the
// window.
func atMostOne(v float64) float64 {
	if v <= 1 {
		return v
	}
	return 1
}

func (s *tiltedSum) Lower(epsilon float64) float64 {
	if v := math.Exp(s.logM-s.theta*epsilon) * (s.at(epsilon) - s.allowance) * (1 - s.relative); v > 0 && v <= 1 {
		return v
	}
	return 0
}

func (s *tiltedSum) Stretch() (start, end, h float64) {
	return s.start, s.start + float64(len(s.mass)-3)*s.h, s.h
}

// EpsilonUpper is the smallest ε >= 0 of the stretch where the upper bound on
// δ(ε) is at most delta; ok is false when the stretch does not hold it.
func EpsilonUpper(s Composed, delta float64) (epsilon float64, ok bool) {
	start, end, h := s.Stretch()
	lo := math.Max(0, start+h)
	if !(end > lo) || s.Upper(end) > delta {
		return 0, false
	}
	if s.Upper(lo) <= delta {
		return lo, lo == 0
	}
	return numeric.Bisect(lo, end, func(e float64) bool { return s.Upper(e) <= delta }), true
}

// EpsilonLower is an ε, at most below, where the lower bound on δ(ε) is at least delta:
// the largest unless rounding hides it. 0 without one.
func EpsilonLower(s Composed, delta, below float64) float64 {
	start, end, h := s.Stretch()
	hi := math.Min(below, end)
	for step := h; hi > 0; step *= 2 {
		lo := math.Max(0, hi-step)
		if s.Lower(lo) >= delta {
			return math.Nextafter(numeric.Bisect(lo, hi, func(e float64) bool { return s.Lower(e) < delta }), 0)
		}
		if hi = lo; hi < start {
			return 0
		}
	}
	return 0
}
