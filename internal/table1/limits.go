package table1

import (
	"math"

	"d3p/internal/models/law"
)

// limitReach is the distance of a limit from its estimate, in standard deviations of the noise: each
// limit holds in 95 of 100 purchases.
const limitReach = 1.645

// coarse is the error of the mean of a histogram with two humps, in that if the records of each cell
// are at any one place in it.
const coarse = 2

// The standard deviation of a column is open if counts show a variance larger than it by openWidth,
// which noise explains in one of ten purchases (openReach).
const openWidth, openReach = 0.5, 1.28

// release are shares, with noise sd, of the cells between raw edges, and the column own that was made
// of them: the cell of each of its parts.
type release struct {
	of            column
	edges, shares []float64
	sd            float64
	own           *law.Column
	cell          []int
}

// noisySum is a sum over cells and the square of its noise, in those of a count.
type noisySum struct{ sum, square float64 }

// add adds x, and the noise of a count at the end of its cell.
func (s *noisySum) add(x, end float64) {
	s.sum += x
	s.square += end * end
}

// upTo is the limit of s above or below, by the sign of reach; within is the error of the places of
// records within cells.
func (l *release) upTo(s noisySum, reach, within float64) float64 {
	return s.sum + reach*math.Hypot(l.sd*math.Sqrt(s.square), within)
}

// limits are those of the mean and the standard deviation. The records of a cell wider than a standard
// deviation may lie at its ends, in the last cell at the bound. In other cells, records lie at random, and
// only those that the count has more than the column may lie at the ends. A cell without a share of the
// column has no fewer records: they add to a deviation.
func (l *release) limits() *law.Limits {
	mean, scale := l.own.Moments()
	withinMean, withinSquare := 0.0, 0.0
	if scale > 0 {
		ofMean, ofScale := l.own.WithinCells()
		withinMean, withinSquare = coarse*ofMean*scale, 2*coarse*ofScale*scale*scale
	}
	var down, up, most, least, centre, excess noisySum
	for i, part := range l.parts(mean) {
		low, high := l.of.ends(l.edges[i], l.edges[i+1])
		low, high = low-mean, high-mean
		near, far, more := max(low, 0)+min(high, 0), max(-low, high), l.shares[i]-part.share
		add := func(s *noisySum, end, own float64) {
			switch {
			case high-low > scale:
				s.add(l.shares[i]*end-part.share*own, end)
			case more < 0 && part.share > 0:
				s.add(more*own, end)
			default:
				s.add(more*end, end)
			}
		}
		excess.add(more*near*near, near*near)
		add(&most, far*far, part.square)
		if part.share > 0 {
			add(&least, near*near, part.square)
			add(&centre, near, part.mean)
		}
		if part.share > 0 || high > 0 {
			add(&up, high, part.mean)
		}
		if part.share > 0 || low < 0 {
			add(&down, low, part.mean)
		}
	}
	off := math.Hypot(centre.sum, math.Hypot(l.sd*math.Sqrt(centre.square), withinMean))
	return &law.Limits{
		MeanLow:   max(l.of.lower, mean+l.upTo(down, -limitReach, withinMean)),
		MeanHigh:  min(l.of.upper, mean+l.upTo(up, limitReach, withinMean)),
		SDLow:     math.Sqrt(max(0, scale*scale+l.upTo(least, -limitReach, withinSquare)-off*off)),
		SDHigh:    min((l.of.upper-l.of.lower)/2, math.Sqrt(max(0, scale*scale+l.upTo(most, limitReach, withinSquare)))),
		Quartiles: [3][2]float64{l.quantile(0.25), l.quantile(0.5), l.quantile(0.75)},
		Open:      excess.sum > openWidth*scale*scale && l.upTo(excess, -openReach, withinSquare) > 0,
	}
}

// quantile has the limits of the number below which the share u of the numbers lies, in the unit of the
// file: from the edge before the first one that may be above it to that after the last one that may be
// below it.
func (l *release) quantile(u float64) (limits [2]float64) {
	n, all, below := len(l.shares), 0.0, 0.0
	for _, share := range l.shares {
		all += share
	}
	first, last := n-1, 1
	for j := 1; j < n; j++ {
		below += l.shares[j-1]
		at := below // of the cells on the side that has fewer
		if 2*j > n {
			at = 1 - (all - below)
		}
		noise := limitReach * l.sd * math.Sqrt(float64(min(j, n-j)))
		if at+noise >= u {
			first = min(first, j-1)
		}
		if at-noise <= u {
			last = j + 1
		}
	}
	low, high := l.edges[min(first, last-1)], l.edges[max(last, first+1)]
	if l.of.whole {
		low, high = math.Ceil(low), math.Ceil(high)-1
	}
	return [2]float64{low, max(low, high)}
}

// cellPart is the share of a column in a cell, with the mean and the mean square of its numbers there.
type cellPart struct{ share, mean, square float64 }

// parts are those of the column, by cell, about a number.
func (l *release) parts(about float64) []cellPart {
	list := make([]cellPart, len(l.shares))
	for k, cell := range l.cell {
		first, second := l.own.CellMoments(k)
		p, share := &list[cell], l.own.Shares[k]
		p.share += share
		p.mean += share * (first - about)
		p.square += share * (second - 2*about*first + about*about)
	}
	for i := range list {
		if p := &list[i]; p.share > 0 {
			p.mean, p.square = p.mean/p.share, p.square/p.share
		}
	}
	return list
}

// ends are the least and the largest number of a cell between raw edges, transformed.
func (c column) ends(first, last float64) (low, high float64) {
	if c.whole {
		first, last = math.Ceil(first), math.Ceil(last)-1
	}
	return c.transformed(first), c.transformed(max(first, last))
}
