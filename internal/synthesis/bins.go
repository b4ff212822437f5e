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
	Shape   []float64 `json:"shape,omitempty"` // estimated count of each fine cell
}

const (
	mostIntegers = 256 // with a fine cell each
	gridCells    = 80  // fine cells of equal width, and of equal ratio
	wideRatio    = 100 // of bounds from which cells of equal ratio are added
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
		least = leastValue(width, whole)
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

// leastValue is the least positive value that cells of equal ratio begin at, if zero is a bound.
func leastValue(width float64, whole bool) float64 {
	if whole {
		return 1
	}
	return width * 1e-6
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

// ordered is the number of cells, from the first, that are in order.
func (c *Column) ordered() int {
	if c.Levels > 0 {
		return 0
	}
	return c.bins()
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

// groupCuts are the cuts between groups of bins; nil groups: between bins.
func (c *Column) groupCuts(groups []int32) []float64 {
	var list []float64
	for b := 1; b < len(c.Bins); b++ {
		if groups == nil || groups[b] != groups[b-1] {
			list = append(list, c.Cuts[c.Bins[b]-1])
		}
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

// spikes reports the cells that have more records than neighbouring cells and noise explain.
func (c *Column) spikes(counts []float64, noise float64) []bool {
	const reach = 2
	m := c.fine()
	spike := make([]bool, m)
	around := func(i int) (mean, sd float64) {
		sum, width, cells := 0.0, 0.0, 0
		for j := max(0, i-reach); j <= min(m-1, i+reach); j++ {
			if j != i && !spike[j] {
				sum += counts[j]
				width += c.width(j)
				cells++
			}
		}
		if cells == 0 {
			return 0, noise
		}
		share := c.width(i) / width
		return sum * share, noise * math.Sqrt(1+share*share*float64(cells))
	}
	for range 2 {
		found := slices.Clone(spike)
		for i := range m {
			mean, sd := around(i)
			found[i] = counts[i]-max(0, mean) > 3.5*sd
		}
		spike = found
	}
	return spike
}

// coarse reports whether neighbouring cells of the column become bins. Where they are
// few, each cell is a bin.
func (c *Column) coarse() bool { return c.Levels == 0 && c.fine() > binsWanted }

// bin makes bins of a number's fine cells from noisy counts. Bins hold about equal sums
// of square roots of counts, so that spikes and thin tails both have bins. Its input is
// noisy, so this is post-processing.
func (c *Column) bin(counts []float64, noise float64) {
	m := c.fine()
	spike := c.spikes(counts, noise)
	roots, total := make([]float64, m), 0.0
	for i, y := range c.density(observedCells(counts, m, noise), spike) {
		roots[i] = math.Sqrt(y)
		total += roots[i]
	}
	for i := range roots {
		roots[i] += (0.1*total + 1e-9) / float64(m)
	}
	total *= 1.1
	c.Bins = []int{0}
	sum := 0.0
	share := total / binsWanted
	for i := range m {
		alone := spike[i] && roots[i] > share/2 || i > 0 && spike[i-1] && roots[i-1] > share/2
		switch {
		case i > 0 && (alone || sum+roots[i]/2 >= share):
			c.Bins = append(c.Bins, i)
			sum = roots[i]
		default:
			sum += roots[i]
		}
	}
}

// next is one past the last fine cell of a bin.
func (c *Column) next(bin int) int {
	if bin+1 < len(c.Bins) {
		return c.Bins[bin+1]
	}
	return c.fine()
}

func (c *Column) centre(cell int) float64 {
	from, to := c.ends(cell)
	return (from + to) / 2
}

// scores are the mean values of a number's cells, NaN for the missing one; nil for levels.
func (c *Column) scores() []float64 {
	if c.Levels > 0 {
		return nil
	}
	list := make([]float64, c.cells())
	for b := range list {
		sum, weight := 0.0, 0.0
		for i := range c.fine() {
			if b < c.bins() && i >= c.Bins[b] && i < c.next(b) {
				sum += c.Shape[i] * c.centre(i)
				weight += c.Shape[i]
			}
		}
		list[b] = sum / weight
	}
	return list
}

// value is the value of the file at the quantile u, in [0, 1), of a cell. The values of a cell at
// uniform u are distributed by the cell's shape.
func (c *Column) value(cell int, u float64) float64 {
	switch {
	case cell >= c.bins():
		return math.NaN()
	case c.Levels > 0:
		return float64(cell)
	}
	first, next := c.Bins[cell], c.next(cell)
	sum := 0.0
	for _, w := range c.Shape[first:next] {
		sum += w
	}
	at := u * sum
	i := first
	for ; i < next-1 && (at >= c.Shape[i] || c.Shape[i] == 0); i++ {
		at -= c.Shape[i]
	}
	within := max(0, min(at/c.Shape[i], 1-1e-15)) // of the fine cell
	from, to := c.ends(i)
	if i == 0 && from == 0 { // the cell of a spike at zero
		return 0
	}
	if c.Whole {
		return min(to, from+math.Floor(within*(to-from+1)))
	}
	return min(to, from+within*(to-from))
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
