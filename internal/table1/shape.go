package table1

import (
	"math"
	"slices"

	"d3p/internal/models/law"
	"d3p/internal/stats"
)

// shape is what the noisy counts of a histogram show together of a column: the posterior of
// all distributions.
type shape struct {
	edges   []float64 // raw: those of the histogram, and others within wide cells
	cell    []int     // of the histogram, of each part between edges
	shares  []float64 // of the parts
	sd      float64   // of the shares, without members
	cells   []float64 // shares of the cells
	members []member
}

// member is one distribution of a posterior: its weight, and the shares of the parts.
type member struct {
	weight float64
	p      []float64
}

// spread is what is not known of a column's mean, in standard deviations of the column, and of
// the log of its standard deviation. tailMean and tailScale are the parts that moments of
// clipped records do not measure.
type spread struct{ mean, scale, tailMean, tailScale float64 }

// clippedAt is the distance from the mean, in standard deviations, from which on clipping
// bounds the moments of a record.
const clippedAt = 2.2

// shapeOf is the shape of a column with these shares of counts between raw edges, that have
// noise, and those of a look before.
func shapeOf(of column, edges, shares []float64, noise float64, look *seen) shape {
	s := partsOf(of, edges)
	parts := len(s.cell)
	list := distributions(of)
	fits, ats, leasts, best := make([]*fit, len(list)), make([]place, len(list)), make([]float64, len(list)), math.Inf(1)
	for k := range list {
		f := &fit{distribution: &list[k], cell: s.cell, counts: shares, noise: noise, p: make([]float64, parts), cells: make([]float64, len(shares)), ends: [2]float64{list[k].of(of.lower), list[k].of(of.upper)}}
		for _, x := range s.edges[1:parts] {
			f.inner = append(f.inner, f.of(of.transformed(x)))
		}
		if look != nil {
			f.look = look.by(&list[k], of)
		}
		fits[k] = f
		ats[k], leasts[k] = f.nearest()
		best = min(best, leasts[k])
	}
	known := len(shares)
	if look != nil {
		known += len(look.shares)
	}
	wide := math.Sqrt(max(1, best/float64(max(known-3, 1))))
	total := 0.0
	for k, f := range fits {
		if ats[k].scale == 0 {
			return declaredShape(edges, stats.Simplex(shares, 1), noise)
		}
		f.grid(ats[k], best, wide, func(weight float64) {
			weight *= f.prior
			total += weight
			s.members = append(s.members, member{weight, slices.Clone(f.p)})
		})
	}
	s.shares, s.cells = make([]float64, parts), make([]float64, len(shares))
	for k := range s.members {
		m := &s.members[k]
		m.weight /= total
		for i, p := range m.p {
			s.shares[i] += m.weight * p
		}
	}
	for i, p := range s.shares {
		s.cells[s.cell[i]] += p
	}
	return s
}

// unlike is the error of the log of a standard deviation when the counts show no difference from a
// family of distributions: of Poisson variables, ages and incomes .01 to .05.
const unlike = 0.03

// spreadAbout is what is not known of a column whose parts have these shares.
func (s *shape) spreadAbout(of column, shares []float64) spread {
	first, second := of.partMoments(s.edges)
	mean, variance, _, _ := momentsOf(shares, first, second, 0, math.Inf(1))
	sd := math.Sqrt(variance)
	statistics := func(p []float64) [4]float64 {
		a, v, clippedMean, clipped := momentsOf(p, first, second, mean, clippedAt*sd)
		return [4]float64{a / sd, math.Log(v) / 2, (a - clippedMean) / sd, (math.Log(v) - math.Log(clipped)) / 2}
	}
	own := statistics(shares)
	var squares [4]float64
	for _, m := range s.members {
		p := slices.Clone(m.p)
		normalise(p)
		for i, x := range statistics(p) {
			squares[i] += m.weight * (x - own[i]) * (x - own[i])
		}
	}
	for i := range squares {
		squares[i] = math.Sqrt(squares[i])
	}
	return spread{squares[0], math.Hypot(squares[1], unlike), squares[2], math.Hypot(squares[3], unlike)}
}

// momentsOf are the mean and the variance of shares of parts with these moments, and the mean
// and the square about `about` of numbers moved to at most `most` from it.
func momentsOf(shares, first, second []float64, about, most float64) (mean, variance, clippedMean, clipped float64) {
	square := 0.0
	for i, p := range shares {
		mean += p * first[i]
		square += p * second[i]
		clippedMean += p * min(max(first[i], about-most), about+most)
		clipped += p * min(second[i]-2*about*first[i]+about*about, most*most)
	}
	return mean, max(square-mean*mean, 1e-300), clippedMean, max(clipped, 1e-300)
}

// farEnd is the distance of the far end of a part from the middle of a histogram, in those of its
// near end; leastPart is the least of a part that remains. Numbers in a part are uniform, and twice
// as far ends would make a normal 4 % too wide.
const farEnd, leastPart = math.Sqrt2, 1.15

// partsOf divides the wide cells of a histogram about the middle of its narrowest cell.
func partsOf(of column, edges []float64) (s shape) {
	middle, least := 0.0, math.Inf(1)
	at := make([]float64, len(edges))
	for i, x := range edges {
		at[i] = of.transformed(x)
		if i > 0 && at[i]-at[i-1] < least && i > 1 && i < len(edges)-1 {
			middle, least = (at[i]+at[i-1])/2, at[i]-at[i-1]
		}
	}
	s.edges = append(s.edges, edges[0])
	for i := range edges[1:] {
		a, b := at[i]-middle, at[i+1]-middle
		var between []float64
		for x := farEnd * a; a > 0 && x < b/leastPart; x *= farEnd {
			between = append(between, x)
		}
		for x := farEnd * b; b < 0 && x > a/leastPart; x *= farEnd {
			between = append(between, x)
		}
		slices.Sort(between)
		for _, x := range between {
			raw := of.declared.Untransformed(middle + x)
			if of.whole {
				raw = math.Floor(raw) + 0.5
			}
			if raw > s.edges[len(s.edges)-1] && raw < edges[i+1] {
				s.edges, s.cell = append(s.edges, raw), append(s.cell, i)
			}
		}
		s.edges, s.cell = append(s.edges, edges[i+1]), append(s.cell, i)
	}
	return s
}

// partMoments are the means and the mean squares of the numbers of cells between raw edges.
func (c column) partMoments(edges []float64) (first, second []float64) {
	own := law.Column{Edges: edges, Shares: make([]float64, len(edges)-1)}.Of(c.declared)
	for i := range own.Shares {
		a, b := own.CellMoments(i)
		first, second = append(first, a), append(second, b)
	}
	return first, second
}

// declaredShape is the shape of a column with known shares, found by counts that have noise.
func declaredShape(edges, shares []float64, noise float64) shape {
	s := shape{edges: edges, shares: shares, cells: shares, sd: noise * math.Sqrt(min(1, 3/float64(len(shares))))}
	for i := range shares {
		s.cell = append(s.cell, i)
	}
	return s
}

// width is that of a cell.
func (s *shape) width(cell int) (sum float64) {
	for i, c := range s.cell {
		if c == cell {
			sum += s.edges[i+1] - s.edges[i]
		}
	}
	return sum
}

// give notes in a column what is not known of its mean and scale.
func (s *spread) give(c *law.Column) {
	if s != nil {
		mean, scale := c.WithinCells()
		c.ShiftSD, c.ScaleSD = math.Hypot(s.mean, mean), math.Hypot(s.scale, scale)
	}
}

// trimmed are the first part to keep of these shares, and that behind the last. Parts at the
// ends with less than one record in ten thousand go, and others as long as the standard
// deviation stays above the mean of those that the shape may have: an unlikely tail
// would make a column many times too wide. A cell that is seen in the counts keeps a part, and all of
// them where it is alone.
func (s *shape) trimmed(of column, shares []float64, seen func(cell int) bool, alone []bool) (low, high int) {
	high = len(shares)
	for sum := shares[low]; low < high-1 && sum < 1e-4 && !alone[s.cell[low]]; sum += shares[low] {
		low++
	}
	for sum := shares[high-1]; low < high-1 && sum < 1e-4 && !alone[s.cell[high-1]]; sum += shares[high-1] {
		high--
	}
	if s.members == nil {
		return low, high
	}
	first, second := of.partMoments(s.edges)
	least := 0.0
	for _, m := range s.members {
		_, v, _, _ := momentsOf(m.p, first, second, 0, math.Inf(1))
		least += m.weight * math.Sqrt(v)
	}
	moments := func(low, high int) (mean, variance float64) {
		part := slices.Clone(shares[low:high])
		normalise(part)
		mean, variance, _, _ = momentsOf(part, first[low:high], second[low:high], 0, math.Inf(1))
		return mean, variance
	}
	for high-low > 1 {
		l, h := low, high
		if mean, _ := moments(low, high); mean-first[low] > first[high-1]-mean {
			l++
		} else {
			h--
		}
		a, b := s.cell[low], s.cell[high-1]
		if l > low && (alone[a] || seen(a) && s.cell[l] != a) || h < high && (alone[b] || seen(b) && s.cell[h-1] != b) {
			break
		}
		if _, v := moments(l, h); !(v > least*least) {
			break
		}
		low, high = l, h
	}
	return low, high
}

// keep gives the shares of parts outside of low to high to the others of their cells, where
// these are seen in the counts.
func (s *shape) keep(shares []float64, low, high int, seen func(cell int) bool) {
	for _, cell := range slices.Compact([]int{s.cell[low], s.cell[high-1]}) {
		if !seen(cell) {
			continue
		}
		all, kept := 0.0, 0.0
		for i, c := range s.cell {
			if c == cell {
				all += shares[i]
				if i >= low && i < high {
					kept += shares[i]
				}
			}
		}
		for i := low; i < high && kept > 0; i++ {
			if s.cell[i] == cell {
				shares[i] *= all / kept
			}
		}
	}
}
