package synthesis

import (
	"cmp"
	"math"
	"slices"
)

// scale is the mean and the standard deviation of a number by its cells; sd 0: it has no order.
type scale struct{ mean, sd float64 }

// of is a value's score.
func (s scale) of(x float64) float64 {
	if math.IsNaN(x) || s.sd == 0 {
		return 0
	}
	return (x - s.mean) / s.sd
}

// standardise sets the scales and scores of columns with the given counts.
func (d *Drawer) standardise(columns [][]float64) {
	d.scale, d.scores = make([]scale, len(columns)), make([][]float64, len(columns))
	for k := range columns {
		values := d.table.Columns[k].scores()
		var n, sum, squares float64
		for c, x := range values {
			if !math.IsNaN(x) {
				n += columns[k][c]
				sum += columns[k][c] * x
				squares += columns[k][c] * x * x
			}
		}
		mean := sum / n
		sd := math.Sqrt(squares/n - mean*mean)
		if !(sd > 1e-9*math.Abs(mean)) { // of levels, and of one cell, too
			continue
		}
		d.scale[k] = scale{mean, sd}
		for _, x := range values {
			d.scores[k] = append(d.scores[k], d.scale[k].of(x))
		}
	}
}

// slope is what another column adds to the slope of a column's log density in its score: by its
// cell, or, of a number, by its score.
type slope struct {
	other  int
	byCell []float64
	factor float64
}

// incline sets the slopes from the fit of moments alone. There the parameters of moments are the
// slopes of the log density between cells, and within a cell the density goes on as between.
func (d *Drawer) incline() {
	d.slopes = make([][]slope, len(d.table.Columns))
	for i, x := range d.moments {
		theta := slices.Clone(d.tree.Theta[len(d.measured)+i])
		a, b := x.Set[0], x.Set[1]
		switch {
		case d.scores[a] != nil && d.scores[b] != nil:
			d.slopes[a] = append(d.slopes[a], slope{other: b, factor: theta[0]})
			d.slopes[b] = append(d.slopes[b], slope{other: a, factor: theta[0]})
		case d.scores[a] != nil:
			d.slopes[a] = append(d.slopes[a], slope{other: b, byCell: theta})
		default:
			d.slopes[b] = append(d.slopes[b], slope{other: a, byCell: theta})
		}
	}
}

// tilt orders the quantiles that records have within their cells, so that numbers go together
// there as they do between cells. A cell keeps its quantiles. One pass over the columns draws
// each given the others (Gibbs).
func (d *Drawer) tilt(cells [][]int32, quantiles [][]float64, random Random) {
	n := len(cells[0])
	score := make([][]float64, len(cells))
	set := func(k int) {
		for i, cell := range cells[k] {
			score[k][i] = d.scale[k].of(d.table.Columns[k].value(int(cell), quantiles[k][i]))
		}
	}
	for k := range cells {
		if d.slopes != nil && d.scores[k] != nil {
			score[k] = make([]float64, n)
			set(k)
		}
	}
	tilts := make([]float64, n)
	for k := range cells {
		if score[k] == nil || len(d.slopes[k]) == 0 {
			continue
		}
		clear(tilts)
		for _, s := range d.slopes[k] {
			for i := range tilts {
				if s.byCell != nil {
					tilts[i] += s.byCell[cells[s.other][i]]
				} else {
					tilts[i] += s.factor * score[s.other][i]
				}
			}
		}
		if d.reorder(k, cells[k], quantiles[k], tilts, random) {
			set(k)
		}
	}
}

// reorder gives the records of each cell of a column its quantiles, in the order of draws from
// densities exp(tilt·score) within the cell. Only differences between the cell's records count.
func (d *Drawer) reorder(k int, cells []int32, quantiles, tilts []float64, random Random) bool {
	c := &d.table.Columns[k]
	members := make([][]int32, c.bins())
	for i, cell := range cells {
		if int(cell) < c.bins() {
			members[cell] = append(members[cell], int32(i))
		}
	}
	moved := false
	draws := make([]float64, len(cells))
	for cell, list := range members {
		width := d.scale[k].of(c.value(cell, 1-1e-9)) - d.scale[k].of(c.value(cell, 0))
		if width == 0 || len(list) < 2 {
			continue
		}
		mean := 0.0
		for _, i := range list {
			mean += tilts[i] / float64(len(list))
		}
		moved = true
		sorted := make([]float64, len(list))
		for j, i := range list {
			sorted[j] = quantiles[i]
			draws[i] = tilted((tilts[i]-mean)*width, random.Uniform())
		}
		slices.Sort(sorted)
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(draws[a], draws[b]) })
		for j, i := range list {
			quantiles[i] = sorted[j]
		}
	}
	return moved
}

// tilted is the quantile u of the density proportional to exp(slope·x) on [0, 1].
func tilted(slope, u float64) float64 {
	switch {
	case math.Abs(slope) < 1e-6:
		return u
	case slope > 0:
		return 1 + math.Log(u+(1-u)*math.Exp(-slope))/slope
	}
	return 1 - tilted(-slope, 1-u)
}
