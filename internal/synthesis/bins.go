// Package synthesis makes synthetic tables from noisy tables of counts: it divides
// columns into bins, asks a curator for counts, and draws records.
package synthesis

import (
	"math"
	"slices"

	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/models/data"
)

// Column is how a column of the file is divided. A category has a cell for each level.
// A number has fine cells, by public cuts, that neighbouring bins are made of. Missing
// values, where they are part of the model, are the last cell.
type Column struct {
	Name    string    `json:"name"`
	Levels  int       `json:"levels,omitempty"` // 0: a number
	Missing bool      `json:"missing,omitempty"`
	Whole   bool      `json:"whole,omitempty"`
	Lower   float64   `json:"lower"`
	Upper   float64   `json:"upper"`
	Cuts    []float64 `json:"cuts,omitempty"`  // between fine cells
	Bins    []int     `json:"bins,omitempty"`  // first fine cell of each bin
	Shape   []float64 `json:"shape,omitempty"` // weight of each fine cell in its bin
}

const (
	mostIntegers = 256  // with a fine cell each
	gridCells    = 64   // fine cells of equal width, and of equal ratio
	wideRatio    = 1000 // of bounds from which cells of equal ratio are added
	binsWanted   = 20
)

// newColumn divides a declared column.
func newColumn(c *data.Column, missing bool) Column {
	b := Column{Name: c.HeaderName(), Missing: missing}
	if !c.Numeric() {
		b.Levels = len(c.Levels)
		return b
	}
	b.Whole, b.Lower, b.Upper = c.Whole(), c.Lower.V, c.Upper.V
	b.Cuts = cuts(b.Lower, b.Upper, b.Whole)
	return b
}

// cuts divides [lower, upper]: whole numbers one by one where they are few, else by
// equal widths, and by equal ratios too where the bounds are far apart. A spike at
// zero or at the upper bound gets a cell of its own.
func cuts(lower, upper float64, whole bool) []float64 {
	var list []float64
	if whole && upper-lower < mostIntegers {
		for x := lower + 1; x <= upper; x++ {
			list = append(list, x)
		}
		return list
	}
	width := upper - lower
	for i := 1; i < gridCells; i++ {
		list = append(list, lower+width*float64(i)/gridCells)
	}
	least := lower
	if lower == 0 {
		least = width * 1e-6
		if whole {
			least = 1
		}
		list = append(list, least)
	}
	if lower >= 0 && upper/least > wideRatio {
		for i := 1; i < gridCells; i++ {
			list = append(list, least*math.Pow(upper/least, float64(i)/gridCells))
		}
	}
	list = append(list, upper)
	if whole {
		for i := range list {
			list[i] = math.Ceil(list[i])
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(x float64) bool { return x <= lower || x > upper })
}

// fine is the number of fine cells of a number.
func (c *Column) fine() int { return len(c.Cuts) + 1 }

// bins is the number of cells without the missing one.
func (c *Column) bins() int {
	if c.Levels > 0 {
		return c.Levels
	}
	return len(c.Bins)
}

func (c *Column) cells() int {
	if c.Missing {
		return c.bins() + 1
	}
	return c.bins()
}

// counted is the number of cells that a curator counts with these cuts.
func (c *Column) counted(cuts int) int {
	if c.Levels > 0 {
		return c.Levels + 2
	}
	return cuts + 2
}

// binCuts are the cuts between bins.
func (c *Column) binCuts() []float64 {
	var list []float64
	for _, first := range c.Bins[min(1, len(c.Bins)):] {
		list = append(list, c.Cuts[first-1])
	}
	return list
}

// width is the extent of a fine cell: how many whole numbers, or the length.
func (c *Column) width(cell int) float64 {
	from, to := c.ends(cell)
	if c.Whole {
		return to - from + 1
	}
	return to - from
}

// ends are the least and the largest value of a fine cell.
func (c *Column) ends(cell int) (from, to float64) {
	from, to = c.Lower, c.Upper
	if cell > 0 {
		from = c.Cuts[cell-1]
	}
	if cell < len(c.Cuts) {
		to = c.Cuts[cell]
		if c.Whole {
			to--
		}
	}
	return from, to
}

// learn makes bins of a number's fine cells from noisy counts, and their shape. Bins
// hold about equal sums of square roots of counts, so that spikes and thin tails both
// have bins. What it reads is noisy: this is post-processing.
func (c *Column) learn(counts []float64, noise float64) {
	m := c.fine()
	roots, total := make([]float64, m), 0.0
	for i, y := range counts[:m] {
		roots[i] = math.Sqrt(max(y-noise, 0))
		total += roots[i]
	}
	for i := range roots {
		roots[i] += (0.1*total + 1e-9) / float64(m)
	}
	total *= 1.1
	c.Bins = []int{0}
	sum := 0.0
	for i := range m {
		switch share := total / binsWanted; {
		case i == 0 || m > binsWanted && sum < share && (roots[i] < share || sum < share/4):
			sum += roots[i]
		default:
			c.Bins = append(c.Bins, i)
			sum = roots[i]
		}
	}
	c.shape(counts, noise)
}

// shape sets the weights of fine cells: the count of one that stands out of the
// noise; the others of a bin share the rest by their widths.
func (c *Column) shape(counts []float64, noise float64) {
	m := c.fine()
	c.Shape = make([]float64, m)
	for b, first := range c.Bins {
		next := m
		if b+1 < len(c.Bins) {
			next = c.Bins[b+1]
		}
		rest, width := 0.0, 0.0
		for i := first; i < next; i++ {
			rest += counts[i]
			if counts[i] > 3*noise {
				c.Shape[i] = math.Round(counts[i])
				rest -= counts[i]
			} else {
				width += c.width(i)
			}
		}
		sum := 0.0
		for i := first; i < next; i++ {
			if c.Shape[i] == 0 && width > 0 {
				c.Shape[i] = max(0, rest) * c.width(i) / width
			}
			sum += c.Shape[i]
		}
		for i := first; i < next && sum == 0; i++ {
			c.Shape[i] = max(c.width(i), 1e-300)
		}
	}
}

// measured is the column's measurement by bins.
func (c *Column) measured(k int, counts []float64, noise float64) marginals.Measurement {
	out := make([]float64, c.cells())
	if c.Levels > 0 {
		copy(out, counts[:c.Levels])
	} else {
		b := -1
		for i, y := range counts[:c.fine()] {
			if b+1 < len(c.Bins) && c.Bins[b+1] == i {
				b++
			}
			out[b] += y
		}
	}
	if c.Missing {
		out[len(out)-1] = counts[len(counts)-1]
	}
	summed := 1.0
	if c.Levels == 0 {
		summed = float64(c.fine()) / float64(len(c.Bins))
	}
	return marginals.Measurement{Set: marginals.Set{k}, Counts: out, Variance: noise * noise * summed}
}

// value draws a value of the file for a cell.
func (c *Column) value(cell int, random Random) float64 {
	switch {
	case cell >= c.bins():
		return math.NaN()
	case c.Levels > 0:
		return float64(cell)
	}
	first, next := c.Bins[cell], c.fine()
	if cell+1 < len(c.Bins) {
		next = c.Bins[cell+1]
	}
	sum := 0.0
	for _, w := range c.Shape[first:next] {
		sum += w
	}
	at := random.Uniform() * sum
	i := first
	for ; i < next-1 && (at >= c.Shape[i] || c.Shape[i] == 0); i++ {
		at -= c.Shape[i]
	}
	from, to := c.ends(i)
	if c.Whole {
		return min(to, from+math.Floor(random.Uniform()*(to-from+1)))
	}
	return min(to, from+random.Uniform()*(to-from))
}

// Random gives uniform and normal numbers.
type Random interface {
	marginals.Random
	Normal() float64
}

// columnsOf divides the columns that the model reads, in the order of its encoding.
func columnsOf(m *models.Model) []Column {
	var list []Column
	for _, f := range m.Encoding.Columns() {
		for _, c := range m.Spec.Data.Columns {
			if c.HeaderName() == f.Column {
				list = append(list, newColumn(c, m.Spec.Data.MissingOf(c).Rule == data.MissingModel))
			}
		}
	}
	return list
}
