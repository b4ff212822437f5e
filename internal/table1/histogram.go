package table1

import (
	"math"
	"slices"

	"d3p/internal/models/law"
	"d3p/internal/stats"
)

// histogram are the noisy counts of the rows of a column in the cells between cuts and, last,
// of those without a value; rows is the number of all rows. The counts of a look at other
// cells, before it, say more about the same rows.
type histogram struct {
	cuts, counts []float64
	noise, rows  float64
	look         *histogram
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
// scale if the counts agree with it, else what families of distributions have (shapeOf). With
// tails, the shares of far cells are those of the shape, unless noise cannot explain the
// difference.
func setHistogram(c *law.Column, of column, h histogram, tails bool) *spread {
	cells := h.cells()
	c.Missing, c.MissingSD = part(h.counts[len(cells)], h.rows), h.noise/h.rows
	edges := append(append([]float64{of.rawLower}, h.cuts...), of.rawUpper)
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
	d, p, counted := s.drawnTo(shares, sd, tails)
	low, high := 0, len(p)
	if tails {
		seen := func(cell int) bool { return shares[cell] > isolated*sd }
		low, high = s.trimmed(of, p, seen)
		s.keep(p, low, high, seen)
	}
	clear(p[:low])
	clear(p[high:])
	normalise(p)
	c.Edges, c.Shares, c.ShareSD, c.ShiftSD, c.ScaleSD = s.edges[low:high+1], p[low:high], counted[low:high], 0, 0
	if c.AsDeclared || !tails {
		c.ShareSD = s.noise(p, counted)[low:high]
		return nil
	}
	for i := range s.members {
		s.members[i].p = s.drawn(d, s.members[i].p)
		positive(s.members[i].p)
	}
	unknown := s.spreadAbout(of, p)
	if _, own := c.Moments(); own > 0 { // what the counts add
		mean, ofScale := c.MomentsSD()
		unknown.mean, unknown.scale = math.Hypot(unknown.mean, mean/own), math.Hypot(unknown.scale, ofScale/own)
	}
	c.ShareSD = s.noise(p, counted)[low:high]
	return &unknown
}

// drawing draws shares to those of counts in the cells from first to before last.
type drawing struct {
	counts      []float64 // as shares, by cell
	own         float64   // weight of the counts
	first, last int
}

// drawnTo draws the parts of s to the shares of counts that have noise sd, as far as these
// contradict the shape. counted is the noise that they thereby have.
func (s *shape) drawnTo(shares []float64, sd float64, tails bool) (d drawing, p, counted []float64) {
	d = drawing{counts: shares, last: len(shares)}
	if distance := squareDistance(shares, s.cells); distance > 0 {
		d.own = max(0, 1-float64(len(shares)-2)*sd*sd/distance)
	}
	if tails {
		d.first, d.last = body(shares, s.cells, sd, d.own)
	}
	p, counted = s.drawn(d, s.shares), make([]float64, len(s.cell))
	if tails {
		positive(p)
	} else { // noise above 0 in many cells is a long tail, unless that below 0 outweighs it
		p = stats.Simplex(p, 1)
	}
	for i, cell := range s.cell {
		if cell >= d.first && cell < d.last {
			counted[i] = d.own * s.fraction(i, s.shares, s.cells) * sd
		}
	}
	if !slices.ContainsFunc(p, func(x float64) bool { return x > 0 }) {
		copy(p, s.shares)
	}
	return d, p, counted
}

// drawn are the shares p of the parts, drawn to counts. Some may be negative.
func (s *shape) drawn(d drawing, p []float64) []float64 {
	cells, out := make([]float64, len(d.counts)), slices.Clone(p)
	for i, cell := range s.cell {
		cells[cell] += p[i]
	}
	for i, cell := range s.cell {
		if cell >= d.first && cell < d.last {
			out[i] = p[i] + d.own*s.fraction(i, p, cells)*(d.counts[cell]-cells[cell])
		}
	}
	return out
}

// fraction is that of part i in its cell under these shares.
func (s *shape) fraction(i int, shares, cells []float64) float64 {
	cell := s.cell[i]
	if cells[cell] > 1e-9 {
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
// count: among a hundred cells some differ by three standard deviations by chance, and one far
// out would make a column many times too wide. Next to a cell that counts, connected is enough.
const isolated, connected = 5., 3.

// body are the cells from the first to behind the last whose counts say more than the shape:
// it has more records there than the noise has, or they differ from it by more than noise
// explains. The shape's fullest cell is one of them, however large the noise is.
func body(shares, shape []float64, sd, own float64) (first, last int) {
	first, last = len(shares), 0
	least := min(max(2*sd, 1e-3), slices.Max(shape))
	for i := range shares {
		if shape[i] >= least {
			first, last = min(first, i), i+1
		}
	}
	differs := func(i int, by float64) bool { return own*math.Abs(shares[i]-shape[i]) > by*sd }
	for i, next := first-1, true; i >= 0; i-- {
		next = next && differs(i, connected)
		if next || differs(i, isolated) {
			first = i
		}
	}
	for i, next := last, true; i < len(shares); i++ {
		next = next && differs(i, connected)
		if next || differs(i, isolated) {
			last = i + 1
		}
	}
	return first, last
}
