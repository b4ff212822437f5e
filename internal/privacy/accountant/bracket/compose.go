package bracket

import (
	"math"
	"slices"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// GridPlan is how every part of a sum of losses gets into the composition. The bounds hold
// for any.
type GridPlan struct {
	TiltedGrid
	Parts  []pairs.Part
	Plans  []PartPlan
	Floors []float64 // of the parts: losses below are raised or dropped
	Order  []int     // in which the parts are composed
	Tail   float64   // P-mass of one step's largest losses that counts as infinite
}

// PartPlan is how one part gets into the composition.
type PartPlan struct {
	Separation
	Block int64          // steps per block; 0: every step is put on the final grid by itself
	Mixed bool           // no final grid: the answer is read from the mixture
	Error float64        // Σ spacing² over all roundings to a grid
	Cost  float64        // in units of one grid point through one FFT
	Wide  int            // points of a block's ring
	Whole numeric.Window // of a block
}

// Compose computes bounds, those from above where ups is set.
func (p *GridPlan) Compose(ups ...bool) []Composed {
	out := make([]Composed, len(ups))
	if r := &p.Plans[0]; r.Mixed {
		c := r.Discretise(p.Parts[0].Pair)
		concurrently(len(ups), func(j int) {
			out[j] = c.Separated(ups[j]).Mixed(float64(p.Parts[0].Count))
		})
		return out
	}
	factors := 0
	for i, part := range p.Parts {
		factors++
		if r := &p.Plans[i]; r.Block > 0 && part.Count%r.Block > 0 {
			factors++
		}
	}
	folds := make([]*gridSum, len(ups))
	for j := range folds {
		folds[j] = newGridSum(p.TiltedGrid, factors)
	}
	next := make([]chan *cells, len(ups))
	for j := range next {
		next[j] = make(chan *cells, p.ahead())
	}
	concurrently(len(ups)+1, func(j int) {
		if j == len(ups) {
			for _, i := range p.Order {
				c := p.shared(i)
				for _, to := range next {
					to <- c
				}
			}
			return
		}
		for _, i := range p.Order {
			p.addPart(folds[j], i, <-next[j], ups[j])
		}
		out[j] = folds[j].read()
	})
	return out
}

// shared has the cells of part i, or is nil where the two bounds have cells of their own.
func (p *GridPlan) shared(i int) *cells {
	if p.Plans[i].Block > 0 || p.Parts[i].Pair.Lower != nil {
		return nil
	}
	return discretise(p.Parts[i].Pair, p.H, p.Floors[i], p.Tail)
}

// ahead is how many parts are put in cells before they are composed: few where their cells
// need much memory.
func (p *GridPlan) ahead() int {
	const most, mostCells = 8, 1 << 19
	widest := 1.0
	for i, part := range p.Parts {
		lowest, highest := part.Pair.Span(p.Floors[i], p.Tail)
		widest = math.Max(widest, (highest-lowest)/p.H)
	}
	return int(math.Min(most, mostCells/widest))
}

// addPart adds part i to the sum; masses are its cells, if both bounds share them.
func (p *GridPlan) addPart(sum *gridSum, i int, masses *cells, up bool) {
	r, part := &p.Plans[i], p.Parts[i]
	switch {
	case r.Block > 0:
		l := r.Discretise(part.Pair).Separated(up)
		sum.add(repeatedLattice{l.block(float64(r.Block), r, up), float64(part.Count / r.Block)})
		if rest := part.Count % r.Block; rest > 0 {
			sum.add(repeatedLattice{l.block(float64(rest), r, up), 1})
		}
	case masses != nil:
		sum.add(repeatedLattice{masses.lattice(part.Pair.Ceiling, p.Theta, up), float64(part.Count)})
	default:
		sum.add(repeatedLattice{onLattice(part.Pair.Side(up), p.H, p.Floors[i], p.Tail, p.Theta, up), float64(part.Count)})
	}
}

// Same reports whether the plans have the same grids.
func (p *GridPlan) Same(as *GridPlan) bool {
	return p.TiltedGrid == as.TiltedGrid && slices.EqualFunc(p.Plans, as.Plans, func(a, b PartPlan) bool {
		return a.Mixed == b.Mixed && a.Block == b.Block && a.H == b.H && a.Coarse == b.Coarse
	})
}

// concurrently calls f with every number below n at the same time.
func concurrently(n int, f func(i int)) {
	done := make(chan struct{})
	for i := range n {
		go func() {
			f(i)
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
}
