package table1

import (
	"math"
	"slices"
)

// distribution is that of a number x, but for a center and a scale: (x − origin)^power, or the
// logarithm of x − origin if power is 0, is normal; of the mirrored one, origin − x. The cube
// root of a gamma variable is nearly normal (Wilson and Hilferty 1931). Of a plain one, x itself
// is normal or, if heavy, has Student's t distribution with 3 degrees of freedom.
type distribution struct {
	prior         float64 // probability
	origin, power float64
	plain         bool
	mirrored      bool
	heavy         bool
}

// distributions are those of a column. Half of the prior probability is the normal's; of counts
// from 0 on, that of a gamma variable and of the square of a normal one, which is nearly a Poisson
// variable (Bartlett 1936). A whole number is rounded from half of one on either side.
func distributions(of column) []distribution {
	list := []distribution{{prior: 0.5, plain: true}, {prior: 0.1, plain: true, heavy: true}}
	if of.declared.Transform.IsSet() {
		return list
	}
	beyond := 0.0
	if of.whole {
		beyond = 0.5
	}
	for _, power := range []float64{0, 1. / 3} {
		list = append(list, distribution{prior: 0.1, origin: of.lower - beyond, power: power},
			distribution{prior: 0.1, origin: of.upper + beyond, power: power, mirrored: true})
	}
	if of.whole && of.rawLower == 0 {
		gamma := slices.IndexFunc(list, func(d distribution) bool { return d.power > 0 && !d.mirrored })
		list[0].prior, list[gamma].prior = list[gamma].prior, list[0].prior/2
		list = append(list, distribution{prior: list[gamma].prior, origin: of.lower - 0.5, power: 1. / 2})
	}
	return list
}

// of is the number whose distribution is normal, ascending with x unless the distribution is
// mirrored.
func (f *distribution) of(x float64) float64 {
	if f.plain {
		return x
	}
	distance := max(x-f.origin, 0)
	if f.mirrored {
		distance = max(f.origin-x, 0)
	}
	if f.power == 0 {
		return math.Log(distance)
	}
	return math.Pow(distance, f.power)
}

// below is the probability of numbers below the one with f.of(x) = y.
func (f *distribution) below(y float64, at place) float64 {
	z := (y - at.center) / at.scale
	if f.mirrored {
		z = -z
	}
	if f.heavy {
		z /= math.Sqrt(3)
		return 0.5 + (z/(1+z*z)+math.Atan(z))/math.Pi
	}
	return normalBelow(z)
}

// fit is a distribution under the noisy counts of a histogram.
type fit struct {
	*distribution
	ends   [2]float64 // f.of of the bounds
	inner  []float64  // of the edges between the parts
	cell   []int      // of the histogram, of each part
	counts []float64  // as shares
	noise  float64    // of a share
	p      []float64  // by part
	cells  []float64
	look   *seen
}

// seen are the shares that a look shows of a column's cells, with their noise.
type seen struct {
	cuts   []float64 // raw
	shares []float64
	noise  float64
	inner  []float64 // the cuts as of a distribution
}

// of are the shares among so many rows; nil without a look.
func (h *histogram) of(rows float64) *seen {
	if h == nil {
		return nil
	}
	s := &seen{cuts: h.cuts, noise: h.noise / rows}
	for _, x := range h.cells() {
		s.shares = append(s.shares, x/rows)
	}
	return s
}

// by is s for a distribution of a column.
func (s *seen) by(f *distribution, of column) *seen {
	out := *s
	out.inner = nil
	for _, x := range s.cuts {
		out.inner = append(out.inner, f.of(of.declared.Transformed(x)))
	}
	return &out
}

// square is the squared distance of the shares from the probabilities of their cells, in units
// of the noise.
func (s *seen) square(f *distribution, at place) float64 {
	sum, below := 0.0, 0.0
	for i, share := range s.shares {
		above := 1.0
		if i < len(s.inner) {
			above = f.below(s.inner[i], at)
		}
		off := share - max(above-below, 0)
		sum, below = sum+off*off, above
	}
	return sum / (s.noise * s.noise)
}

// clamped is the prior mean of the share of records beyond the bounds.
const clamped = 0.05

// square computes p, the probabilities of the parts. It is the squared distance of those of the
// cells from the counts, in units of the noise, less twice the log of the prior density of the
// share beyond the bounds, which is exponential.
func (f *fit) square(at place) float64 {
	clear(f.cells)
	below := 0.0
	for i := range f.p {
		above := 1.0
		if i < len(f.inner) {
			above = f.below(f.inner[i], at)
		}
		f.p[i], below = max(above-below, 0), above
		f.cells[f.cell[i]] += f.p[i]
	}
	low, high := f.below(f.ends[0], at), f.below(f.ends[1], at)
	square := squareDistance(f.counts, f.cells)/(f.noise*f.noise) + 2*(low+1-high)/clamped
	if f.look != nil {
		square += f.look.square(f.distribution, at)
	}
	return square
}

// nearest is the place at which the distribution is nearest to the counts, of scale 0 without two
// edges: pattern search from the best of some places between edges.
func (f *fit) nearest() (at place, least float64) {
	least = math.Inf(1)
	try := func(center, scale float64) bool {
		if !(scale > 0 && scale < 1e100) || math.IsInf(center, 0) {
			return false
		}
		square := f.square(place{center, scale})
		if !(square < least) {
			return false
		}
		at, least = place{center, scale}, square
		return true
	}
	for i, y := range f.inner {
		for gap := 1; gap <= 8; gap *= 2 {
			if j := min(i+gap, len(f.inner)-1); j > i {
				try((y+f.inner[j])/2, math.Abs(f.inner[j]-y))
			}
		}
	}
	for step := 1.0; step > 0.01 && at.scale > 0; {
		c, s := at.center, at.scale
		if !(try(c-step*s, s) || try(c+step*s, s) || try(c, s*math.Exp(step)) || try(c, s*math.Exp(-step))) {
			step /= 2
		}
	}
	return at, least
}

// The grid of a posterior over places: gridPoints each way, to gridReach standard deviations.
const (
	gridPoints = 9
	gridReach  = 3.0
)

// grid calls visit with places about the nearest one and their densities, relative to that of
// a distance of least, under counts whose noise is wide times as large as stated. It visits none
// where all densities are 0.
func (f *fit) grid(at place, least, wide float64, visit func(weight float64)) {
	density := func(u, v float64) float64 {
		return math.Exp(-(f.square(place{at.center + u*at.scale, at.scale * math.Exp(v)}) - least) / (2 * wide * wide))
	}
	reach := func(at func(h float64) float64) float64 { // where the density is a tenth
		h := 2.0
		for h > 1e-6 && at(h) < 0.1 && at(-h) < 0.1 {
			h /= 1.5
		}
		return h
	}
	first := [2]float64{reach(func(h float64) float64 { return density(h, 0) }), reach(func(h float64) float64 { return density(0, h) })}
	var sum float64
	var mean [2]float64
	var square [3]float64
	unit := func(i int) float64 { return 2*float64(i)/(gridPoints-1) - 1 }
	for i := range gridPoints {
		for j := range gridPoints {
			u, v := 1.5*first[0]*unit(i), 1.5*first[1]*unit(j)
			w := density(u, v)
			sum += w
			mean[0], mean[1] = mean[0]+w*u, mean[1]+w*v
			square[0], square[1], square[2] = square[0]+w*u*u, square[1]+w*u*v, square[2]+w*v*v
		}
	}
	if sum == 0 {
		return // the counts rule the distribution out
	}
	mean[0], mean[1] = mean[0]/sum, mean[1]/sum
	a := math.Sqrt(max(square[0]/sum-mean[0]*mean[0], 1e-12))
	b := (square[1]/sum - mean[0]*mean[1]) / a
	c := math.Sqrt(max(square[2]/sum-mean[1]*mean[1]-b*b, 1e-12))
	for i := range gridPoints {
		for j := range gridPoints {
			x, y := gridReach*unit(i), gridReach*unit(j)
			visit(density(mean[0]+a*x, mean[1]+b*x+c*y))
		}
	}
}
