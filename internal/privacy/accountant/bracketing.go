package accountant

import "math"

// bracketing runs the bracket engine for one direction on grids that the
// caller refines until the bracket is narrow enough.
type bracketing struct {
	*direction
	c           *composition
	tail, theta float64
	near        float64 // loss that must be well inside the window
	h           float64 // wanted spacing
	widen       float64 // extra window, in units of the tilted standard deviation
	atMost      int     // points of the grid; 0 means maxPoints
	coarsest    bool    // the last spacing was above h, for want of points
}

const (
	minPoints     = 1 << 10
	maxPoints     = 1 << 22
	bracketLogEta = -32.2 // log 1e-14
)

// full reports that the last run could not have the spacing it wanted.
func (b *bracketing) full() bool { return b.coarsest }

// refine shrinks the spacing for a bracket narrower by the factor: widths are
// of second order in the spacing.
func (b *bracketing) refine(factor float64) { b.h *= 0.9 * math.Sqrt(math.Max(factor, 1e-4)) }

// run computes both bounds; ok is false when the window is not finite.
func (b *bracketing) run() (up, lo *tiltedSum, ok bool) {
	t, parts, ok := b.plan()
	if !ok {
		return nil, nil, false
	}
	var above, below []foldedPart
	for _, p := range parts {
		c := discretise(p.pair, t.h, b.floor(), b.tail)
		above = append(above, foldedPart{c.dominating(), float64(p.count)})
		if p.pair.lower != nil {
			c = discretise(p.pair.lower, t.h, b.floor(), b.tail)
		}
		below = append(below, foldedPart{c.dominated(p.pair.ceiling), float64(p.count)})
	}
	f := newFolder(t.n)
	return f.fold(above, t), f.fold(below, t), true
}

// runUpper computes the upper bound alone.
func (b *bracketing) runUpper() (up *tiltedSum, ok bool) {
	t, parts, ok := b.plan()
	if !ok {
		return nil, false
	}
	var above []foldedPart
	for _, p := range parts {
		above = append(above, foldedPart{discretise(p.pair, t.h, b.floor(), b.tail).dominating(), float64(p.count)})
	}
	return newFolder(t.n).fold(above, t), true
}

// floor is the loss below which mass does not matter under the tilt: its
// tilted share of all steps is below 1e-12.
func (b *bracketing) floor() float64 { return -(27.7 + math.Log(b.steps())) / b.theta }

// plan lays the grid: the window that holds the tilted sum, and the wanted
// spacing or the finest that the number of points allows.
func (b *bracketing) plan() (t tilt, parts []part, ok bool) {
	mean, variance := b.c.moments(b.theta)
	sd := math.Sqrt(variance)
	w := b.c.window(b.theta, mean, sd, bracketLogEta)
	margin := math.Max(math.Min(0.02*b.near, sd), 2/b.theta) + b.widen*sd
	from := math.Min(mean-w.below, b.near-margin)
	to := math.Max(mean+w.above, b.near+margin)
	if math.IsNaN(to-from) || math.IsInf(to-from, 0) {
		return tilt{}, nil, false
	}
	if b.atMost == 0 {
		b.atMost = maxPoints
	}
	n := minPoints
	for n < b.atMost && float64(n-2)*b.h < to-from {
		n *= 2
	}
	h := (to - from) / float64(n-2)
	parts = b.parts
	if b.mu2 > 0 {
		parts = append(parts[:len(parts):len(parts)], part{count: 1, pair: gaussianPair(math.Sqrt(b.mu2))})
	}
	for _, p := range parts { // one step may reach further than the window
		lowest, highest := p.pair.span(b.floor(), b.tail)
		h = math.Max(h, (highest-lowest)/(maxCells-4))
	}
	for n > minPoints && float64(n/2-2)*h > to-from {
		n /= 2
	}
	b.coarsest = h > b.h*1.001
	return tilt{theta: b.theta, window: w, from: from, h: h, n: n}, parts, true
}

// epsilonUpper is the smallest ε >= 0 of the window where the upper bound on
// δ(ε) is at most delta; ok is false when the window does not hold it.
func (s *tiltedSum) epsilonUpper(delta float64) (epsilon float64, ok bool) {
	lo, hi := math.Max(0, s.start+s.h), s.end()
	if !(hi > lo) || s.upper(hi) > delta {
		return 0, false
	}
	if s.upper(lo) <= delta {
		return lo, lo == 0
	}
	return bisect(lo, hi, func(e float64) bool { return s.upper(e) <= delta }), true
}

// epsilonLower is an ε, at most below, where the lower bound on δ(ε) is at
// least delta: the largest unless rounding hides it. 0 when there is none.
func (s *tiltedSum) epsilonLower(delta, below float64) float64 {
	hi := math.Min(below, s.end())
	for step := s.h; hi > 0; step *= 2 {
		lo := math.Max(0, hi-step)
		if s.lower(lo) >= delta {
			return math.Nextafter(bisect(lo, hi, func(e float64) bool { return s.lower(e) < delta }), 0)
		}
		if hi = lo; hi < s.start {
			return 0
		}
	}
	return 0
}

// end is the last loss of the window at which sums can be asked for.
func (s *tiltedSum) end() float64 { return s.start + float64(len(s.mass)-3)*s.h }
