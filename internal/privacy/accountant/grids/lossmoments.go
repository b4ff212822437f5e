package grids

import (
	"math"
	"slices"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/pairs"
)

// lossMoments describes one loss of a part under the tilt: its quadrature nodes in the
// order of their losses, with partial sums of tilted moments. It serves to choose grids,
// and proves nothing.
type lossMoments struct {
	pair            *pairs.Pair
	count           float64
	lowest, highest float64   // losses that go into cells
	loss, mass      []float64 // sorted by loss; P-mass
	// partial sums of w, w d, w d² and w |d|, w the tilted mass and d the
	// distance from the median: entry i is over the nodes below i
	weight, first, second, away []float64
	median                      float64 // of the P-mass: where the bulk is
}

// newLossMoments orders the nodes n of the pair p. P-mass whose tilted share in all
// steps is below e^logShare is left out at the low end, tail at the high end.
func newLossMoments(n *bracket.Nodes, p *pairs.Pair, theta, logShare, tail float64) *lossMoments {
	size := len(n.Loss)
	s := &lossMoments{pair: p, count: n.Count, loss: make([]float64, size), mass: make([]float64, size)}
	order := make([]int, size)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case n.Loss[a] < n.Loss[b]:
			return -1
		case n.Loss[a] > n.Loss[b]:
			return 1
		}
		return 0
	})
	logM := n.LogMoment(theta) / n.Count
	below, floor := 0.0, math.Inf(-1)
	half := false
	for i, j := range order {
		s.loss[i], s.mass[i] = n.Loss[j], n.Mass[j]
		if below += n.Mass[j]; !half && below >= 0.5 {
			s.median, half = n.Loss[j], true
		}
		if math.Log(n.Count*below)+theta*n.Loss[j]-logM < logShare {
			floor = n.Loss[j]
		}
	}
	s.lowest, s.highest = p.Span(floor, tail)
	w, _, _ := n.Tilted(theta)
	for _, to := range []*[]float64{&s.weight, &s.first, &s.second, &s.away} {
		*to = make([]float64, size+1)
	}
	for i, j := range order {
		d := n.Loss[j] - s.median
		s.weight[i+1] = s.weight[i] + w[j]
		s.first[i+1] = s.first[i] + w[j]*d
		s.second[i+1] = s.second[i] + w[j]*d*d
		s.away[i+1] = s.away[i] + w[j]*math.Abs(d)
	}
	return s
}

// span is the range of the losses that go into cells.
func (s *lossMoments) span() float64 { return s.highest - s.lowest }

// bulkMoments are the moments of the bulk of a loss, within a radius of the median, under
// the tilt.
type bulkMoments struct {
	radius         float64
	variance, away float64 // away: mean distance from the median
	rare           float64 // probability of all other losses
}

// within is the bulk of radius r.
func (s *lossMoments) within(r float64) bulkMoments {
	size := len(s.loss)
	from, _ := slices.BinarySearch(s.loss, s.median-r)
	to, _ := slices.BinarySearchFunc(s.loss, s.median+r, func(l, at float64) int {
		if l <= at {
			return -1
		}
		return 1
	})
	if to <= from {
		return bulkMoments{radius: r, rare: 1}
	}
	w := s.weight[to] - s.weight[from]
	mean := (s.first[to] - s.first[from]) / w
	return bulkMoments{
		radius:   r,
		variance: math.Max(0, (s.second[to]-s.second[from])/w-mean*mean),
		away:     (s.away[to] - s.away[from]) / w,
		rare:     s.weight[from] + (s.weight[size] - s.weight[to]),
	}
}

// all is the bulk that holds every loss.
func (s *lossMoments) all() bulkMoments {
	c := s.within(math.Max(s.highest-s.median, s.median-s.lowest) * 2)
	c.rare = 0
	return c
}

// bulks are the candidates for a bulk, in falling order of their radii.
func (s *lossMoments) bulks() []bulkMoments {
	widest := math.Max(s.highest-s.median, s.median-s.lowest)
	cores := []bulkMoments{s.all()}
	for r := widest / 2; r > widest*1e-13; r /= 1.6 {
		c := s.within(r)
		if c.rare == 1 || rareCount(c.rare) > maxRare {
			break
		}
		cores = append(cores, c)
	}
	return cores
}

// inflation is the error of rounding n losses of the bulk to a grid of spacing h, in
// units of spacing²: losses near the median, which lies on a grid point, are hardly
// moved.
func (c bulkMoments) inflation(n, h float64) float64 { return n * math.Min(h*h, 6*h*c.away) }

// spacing is the h at which inflation(n, h) is the budget.
func (c bulkMoments) spacing(n, budget float64) float64 {
	return math.Max(math.Sqrt(budget/n), budget/(6*n*c.away))
}

// width is about the width of the sum of n losses of the bulk (Bernstein).
func (c bulkMoments) width(n float64) float64 {
	const logEta = 40
	a := logEta * c.radius / 3
	return math.Min(2*n*c.radius, 2.2*(a+math.Sqrt(a*a+2*logEta*n*c.variance)))
}
