package table1

import (
	"math"
	"slices"

	"d3p/internal/models/law"
)

// histogram are the noisy counts of the rows of a column in the cells between cuts and, last,
// of those without a value; rows is the number of all rows. look has the counts of the same
// rows in other cells, which were bought before; nil if there are none.
type histogram struct {
	cuts, counts []float64
	noise, rows  float64
	look         *histogram
}

// edges are the raw ends of the cells of a column: its bounds, and the cuts between them.
func (h *histogram) edges(of column) []float64 {
	return append(append([]float64{of.rawLower}, h.cuts...), of.rawUpper)
}

// cells are the counts of cells, withValue the number of rows in them.
func (h *histogram) cells() []float64 { return h.counts[:len(h.counts)-1] }

func (h *histogram) withValue() float64 {
	cells := h.cells()
	missing := max(h.counts[len(cells)], 0)
	all, _ := combined(total(cells), math.Sqrt(float64(len(cells))), h.rows-missing, math.Sqrt2)
	return max(all, 1)
}

// setHistogram makes a histogram of h, and returns what is not known of
// its mean and scale; nothing for a column that is as declared. It shrinks the shares towards
// those of a shape, as far as the counts do not contradict it (James and Stein 1961): noise in
// the tails moves mean and standard deviation far. The shape is the normal with the declared
// scale if the counts agree with it, else what families of distributions have (shapeOf). The
// shares of far cells are those of the shape, unless noise cannot explain the difference.
func setHistogram(c *law.Column, of column, h histogram) *spread {
	cells := h.cells()
	c.Missing, c.MissingSD = part(h.counts[len(cells)], h.rows), h.noise/h.rows
	edges := h.edges(of)
	if of.whole {
		edges[0], edges[len(edges)-1] = of.rawLower-0.5, of.rawUpper+0.5
	}
	all := h.withValue()
	sd := h.noise / all
	shares := make([]float64, len(cells))
	for i, x := range cells {
		shares[i] = x / all
	}
	normal, look := of.normalShares(edges, place{of.center, of.scale}), h.look.of(all)
	distance, parts := squareDistance(shares, normal)/(sd*sd), len(cells)
	if look != nil {
		declared := &distribution{plain: true}
		distance += look.by(declared, of).square(declared, place{of.center, of.scale})
		parts += len(look.shares)
	}
	c.AsDeclared = of.scaled && distance <= agreement(parts)
	var s shape
	if c.AsDeclared {
		s = declaredShape(edges, normal, sd)
	} else {
		s = shapeOf(of, edges, shares, sd, look)
	}
	d, p, counted := s.drawnTo(shares, sd)
	seen := func(cell int) bool { return shares[cell] > isolated*sd }
	low, high := s.trimmed(of, p, seen, d.alone)
	s.keep(p, low, high, seen)
	clear(p[:low])
	clear(p[high:])
	normalise(p)
	c.Edges, c.Shares, c.ShareSD, c.ShiftSD, c.ScaleSD = s.edges[low:high+1], p[low:high], counted[low:high], 0, 0
	c.Counted = countedCells(s.cell[low:high], shares, sd)
	c.Limits = (&release{of, edges, shares, sd, c, s.cell[low:high]}).limits()
	if c.AsDeclared {
		c.ShareSD = s.noise(p, counted)[low:high]
		return nil
	}
	for i, m := range s.members {
		drawn := s.drawn(d, m.p)
		if positive(drawn); slices.Max(drawn) > 0 {
			s.members[i].p = drawn
		}
	}
	unknown := s.spreadAbout(of, p)
	if _, own := c.Moments(); own > 0 { // what the counts add
		mean, ofScale := c.MomentsSD()
		unknown.mean, unknown.scale = math.Hypot(unknown.mean, mean/own), math.Hypot(unknown.scale, ofScale/own)
	}
	s.locate(of, d, c, sd, &unknown)
	c.ShareSD = s.noise(p, counted)[low:high]
	return &unknown
}

// countedCells are the counted cells of these parts, whose counts are shares with noise sd.
func countedCells(cell []int, shares []float64, sd float64) (list []law.Counted) {
	for i, k := range cell {
		if i == 0 || k != cell[i-1] {
			list = append(list, law.Counted{Share: shares[k], SD: sd})
		}
		list[len(list)-1].Parts++
	}
	return list
}

// drawing draws shares to those of counts.
type drawing struct {
	counts []float64 // as shares, by cell
	own    []float64 // the weight of the count of each cell
	alone  []bool    // cells beside which the shape has few records
}

// drawnTo draws the parts of s to the shares of counts that have noise sd. In the body of the
// shape counts weigh as much as they contradict it together, elsewhere those do that noise cannot
// explain. counted is the noise that the parts thereby have.
func (s *shape) drawnTo(shares []float64, sd float64) (d drawing, p, counted []float64) {
	d = drawing{shares, make([]float64, len(shares)), make([]bool, len(shares))}
	in := body(shares, s.cells, sd)
	distance, cells := 0.0, 0
	for i, here := range in {
		if here {
			distance += (shares[i] - s.cells[i]) * (shares[i] - s.cells[i])
			cells++
		}
	}
	for i, here := range in {
		switch {
		case here && distance > 0:
			d.own[i] = max(0, 1-float64(cells)*sd*sd/distance)
		case !here && math.Abs(shares[i]-s.cells[i]) > isolated*sd:
			d.own[i], d.alone[i] = 1, true
		}
	}
	p, counted = s.drawn(d, s.shares), make([]float64, len(s.cell))
	positive(p)
	for i, cell := range s.cell {
		counted[i] = d.own[cell] * s.fraction(d, i, s.shares, s.cells) * sd
	}
	if !slices.ContainsFunc(p, func(x float64) bool { return x > 0 }) {
		copy(p, s.shares)
	}
	return d, p, counted
}

// locate adds to what is not known that the records of a cell that counts alone may be at any one
// place in it. Far from the mean, clipped moments measure neither their place nor their number, whose
// noise is sd.
func (s *shape) locate(of column, d drawing, c *law.Column, sd float64, unknown *spread) {
	mean, scale := c.Moments()
	for cell, alone := range d.alone {
		share := d.counts[cell] - s.cells[cell]
		if !alone || share < 0 || !(scale > 0) {
			continue
		}
		first := slices.Index(s.cell, cell)
		last := first + 1
		for last < len(s.cell) && s.cell[last] == cell {
			last++
		}
		low, high := of.transformed(s.edges[first]), of.transformed(s.edges[last])
		off, away := share*(high-low)/math.Sqrt(12)/scale, ((low+high)/2-mean)/scale
		unknown.mean, unknown.scale = math.Hypot(unknown.mean, off), math.Hypot(unknown.scale, away*off)
		if math.Abs(away) > clippedAt {
			unknown.tailMean = math.Hypot(unknown.tailMean, math.Hypot(off, away*sd))
			unknown.tailScale = math.Hypot(unknown.tailScale, math.Hypot(away*off, (away*away-1)/2*sd))
		}
	}
}

// drawn are the shares p of the parts, drawn to counts. Some may be negative.
func (s *shape) drawn(d drawing, p []float64) []float64 {
	cells, out := make([]float64, len(d.counts)), slices.Clone(p)
	for i, cell := range s.cell {
		cells[cell] += p[i]
	}
	for i, cell := range s.cell {
		out[i] = p[i] + d.own[cell]*s.fraction(d, i, p, cells)*(d.counts[cell]-cells[cell])
	}
	return out
}

// fraction is that of part i in what the count of its cell adds: as under these shares, unless
// they do not explain the count.
func (s *shape) fraction(d drawing, i int, shares, cells []float64) float64 {
	cell := s.cell[i]
	if cells[cell] > 1e-9 && !(d.alone[cell] && d.counts[cell] > cells[cell]) {
		return shares[i] / cells[cell]
	}
	return (s.edges[i+1] - s.edges[i]) / s.width(cell)
}

// positive makes negative shares 0.
func positive(shares []float64) {
	for i, x := range shares {
		shares[i] = max(x, 0)
	}
}

// normalise makes shares add up to 1.
func normalise(shares []float64) {
	sum := 0.0
	for _, x := range shares {
		sum += x
	}
	for i := range shares {
		shares[i] /= sum
	}
}

// noise is that of the shares of the parts, drawn to counts.
func (s *shape) noise(p, counted []float64) []float64 {
	all := make([]float64, len(counted))
	for i := range all {
		variance := 0.0
		for _, m := range s.members {
			variance += m.weight * (m.p[i] - p[i]) * (m.p[i] - p[i])
		}
		if s.members == nil {
			variance = s.sd * s.sd
		}
		all[i] = math.Hypot(counted[i], math.Sqrt(variance))
	}
	return all
}

// agreement is the square of a distance, in units of the noise of n cells, that chance
// exceeds in 1 of 20 tables, about: the mean of chi-squared and 1.6 standard deviations.
func agreement(n int) float64 { return float64(n) + 1.6*math.Sqrt(2*float64(n)) }

// squareDistance is the squared distance of a from b.
func squareDistance(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}

// normalShares are the probabilities of the cells between raw edges under a normal, moved
// to the bounds.
func (c column) normalShares(edges []float64, at place) []float64 {
	p, below := make([]float64, len(edges)-1), 0.0
	for i := range p {
		above := 1.0
		if i < len(p)-1 {
			above = normalBelow((c.declared.Transformed(min(max(edges[i+1], c.rawLower), c.rawUpper)) - at.center) / at.scale)
		}
		p[i], below = above-below, above
	}
	return p
}

// isolated is the multiple of the noise by which a far cell must differ from the shape to
// count: of twenty cells one does so by chance in one of a thousand columns, and then makes it many
// times too wide. Next to a cell that counts, connected is enough.
const isolated, connected = 4., 3.

// body are the cells in which the shape has more records than the noise, and those next to them
// that differ from it by more than noise explains. The shape's fullest cell is one of them, however
// large the noise is.
func body(shares, shape []float64, sd float64) []bool {
	in := make([]bool, len(shares))
	first, last := len(shares), 0
	least := min(max(2*sd, 1e-3), slices.Max(shape))
	for i := range shares {
		if shape[i] >= least {
			first, last = min(first, i), i+1
		}
	}
	differs := func(i int) bool { return math.Abs(shares[i]-shape[i]) > connected*sd }
	for first > 0 && differs(first-1) {
		first--
	}
	for last < len(shares) && differs(last) {
		last++
	}
	for i := first; i < last; i++ {
		in[i] = true
	}
	return in
}
