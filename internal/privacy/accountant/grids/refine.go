// Package grids chooses the grids that package bracket composes on, and refines them until
// the bracket is narrow. The bounds hold for any choice: a proof-reader may skip it.
package grids

import (
	"cmp"
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// Refiner runs the bracket engine for one direction on grids that the
// caller refines until the bracket is narrow enough.
type Refiner struct {
	*bracket.Losses
	C           *bracket.Composition
	Tail, Theta float64
	Near        float64      // loss that must be well inside the window
	Budget      float64      // wanted Σ spacing² over all roundings to a grid; 0: one grid of atMost points
	logShare    float64      // log of the part of the tilted mass that decides, for the windows
	Widen       float64      // extra window, in units of the tilted standard deviation
	AtMost      int          // points of the final grid; 0 means maxPoints
	coarsest    bool         // the last run was above the budget, for want of points
	last        *planner     // of the last run
	Large       *largeLosses // single losses that are composed apart; nil if there are none
}

const (
	minPoints     = 1 << 10
	maxPoints     = 1 << 22
	bracketLogEta = -32.2 // log 1e-14
	floorLogShare = -27.7 // log 1e-12
	leastScale    = 1e-6  // of the standard deviation, relative to the loss
	hopelessLog   = 120   // log of the factor on δ that rounding to a grid may cost: beyond, none is tried
	costlyPoints  = 1 << 19
	edgePoints    = 80 // grid points of a window that are there for rounding
)

// Full reports that the last run could not have the spacing it wanted.
func (b *Refiner) Full() bool { return b.coarsest }

// Refine shrinks the spacing for a bracket narrower by the factor: widths are
// of second order in the spacing.
func (b *Refiner) Refine(factor float64) { b.Budget *= 0.8 * math.Max(factor, 1e-4) }

// Costly reports whether a bracket narrower by the factor needs a large grid.
func (b *Refiner) Costly(factor float64) bool {
	return b.last != nil && float64(b.last.N) > costlyPoints*math.Sqrt(factor)
}

// Run computes both bounds. ok is false if the window is not finite, if no grid is fine
// enough to improve on Chernoff's bound, or if the grids are those of the last run.
func (b *Refiner) Run() (up, lo bracket.Composed, ok bool) {
	if b.Large != nil {
		return b.Large.run(b)
	}
	p, ok := b.Plan()
	if !ok || b.last != nil && p.Same(&b.last.GridPlan) {
		return nil, nil, false
	}
	b.last = p
	bounds := p.Compose(true, false)
	return bounds[0], bounds[1], true
}

// both computes the two bounds concurrently.
func both(compose func(up bool) bracket.Composed) (up, lo bracket.Composed) {
	done := make(chan struct{})
	go func() {
		up = compose(true)
		close(done)
	}()
	lo = compose(false)
	<-done
	return up, lo
}

// RunUpper computes the upper bound alone.
func (b *Refiner) RunUpper() (up bracket.Composed, ok bool) {
	p, ok := b.Plan()
	if !ok {
		return nil, false
	}
	return p.Compose(true)[0], true
}

// Plan lays the grids: the window that holds the tilted sum, and for every
// part the cheapest plan that keeps to the budget, or the most accurate one.
func (b *Refiner) Plan() (p *planner, ok bool) {
	mean, variance := b.C.Moments(b.Theta)
	// if the tilt leaves a single value, the grid still needs a scale
	sd := math.Max(math.Sqrt(variance), leastScale*math.Max(b.Near, math.Abs(mean)))
	w := b.C.Window(b.Theta, mean, sd, bracketLogEta+b.logShare)
	margin := math.Max(math.Min(0.02*b.Near, sd), math.Min(2/b.Theta, sd)) + b.Widen*sd
	from := math.Min(mean-w.Below, b.Near-margin)
	width := math.Max(mean+w.Above, b.Near+margin) - from
	if math.IsNaN(width) || math.IsInf(width, 0) {
		return nil, false
	}
	p = &planner{GridPlan: bracket.GridPlan{TiltedGrid: bracket.TiltedGrid{Theta: b.Theta, From: from}, Tail: b.Tail}, logEta: separatedLogEta + b.logShare, gaussian: b.Mu2}
	for i, part := range b.Parts {
		p.Parts, p.moments, p.nodes = append(p.Parts, part), append(p.moments, b.momentsOf(i)), append(p.nodes, b.C.Nodes[i])
	}
	if b.Mu2 > 0 {
		g := pairs.NewGaussian(math.Sqrt(b.Mu2))
		s := &lossMoments{pair: g, count: 1}
		s.lowest, s.highest = g.Span(b.floor(0.5*b.Mu2*b.Theta*(1+b.Theta)), b.Tail)
		p.Parts, p.moments, p.nodes = append(p.Parts, pairs.Part{Count: 1, Pair: g}), append(p.moments, s), append(p.nodes, bracket.Nodes{})
	}
	b.AtMost = cmp.Or(b.AtMost, maxPoints)
	least := minPoints
	if b.Budget == 0 {
		least = b.AtMost
	}
	b.coarsest = p.choose(width, b.Budget, least, b.AtMost) > 1.01*b.Budget
	if p.inflation() > hopelessLog {
		return nil, false
	}
	// Rounding to the grid moves losses by up to its spacing, which the proof of the window
	// must not magnify.
	if p.Window = w; math.Max(w.LambdaBelow, w.LambdaAbove)*p.H > 1 {
		p.Window = b.C.Window(b.Theta, mean, numeric.LargestLambda*p.H, bracketLogEta+b.logShare)
	}
	p.From -= edgePoints / 2 * p.H
	p.Order = p.steepestFirst(variance)
	for _, s := range p.moments {
		p.Floors = append(p.Floors, s.lowest)
	}
	return p, true
}

// momentsOf describes part i. Every step of a pair without a density goes directly onto the
// final grid; it has no nodes.
func (b *Refiner) momentsOf(i int) *lossMoments {
	part := &b.Parts[i]
	if part.Pair.Smooth {
		return newLossMoments(&b.C.Nodes[i], part.Pair, b.Theta, floorLogShare+b.logShare, b.Tail)
	}
	s := &lossMoments{pair: part.Pair, count: float64(part.Count)}
	s.lowest, s.highest = part.Pair.Span(b.floor(b.C.Nodes[i].LogMoment(b.Theta)/float64(part.Count)), b.Tail)
	return s
}

// floor is a loss below which mass does not matter under the tilt, for a step with that
// log moment.
func (b *Refiner) floor(logM float64) float64 {
	return (logM + floorLogShare + b.logShare - math.Log(b.Steps())) / b.Theta
}

// TailShare is the part of delta that may go to infinite loss by cutting the
// upper tails, over all steps.
const TailShare = 1e-8

// SmallestCut is the least part of δ at which upper tails are cut.
const SmallestCut = 1e-300
