package synthesis

import (
	"math"
	"slices"

	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
)

// Limits of the tables of zeros: constraints over more are met by drawing again.
const (
	mostZeroColumns = 3
	mostZeroCells   = 1 << 16
	valuesOfCell    = 5
)

// impossible turns the declared constraints into zeros: cells in which every value breaks a
// constraint. It tries a few values of each bin of numbers. It excludes a bin by mistake only
// if a constraint admits values between these and none of them.
func impossible(m *models.Model, columns []Column) ([]marginals.Zeros, error) {
	twin, err := simulate.NewTwin(m)
	if err != nil {
		return nil, err
	}
	declared := m.Spec.Data.AllColumns()
	var zeros []marginals.Zeros
	for i, reads := range twin.Conditions() {
		var set marginals.Set
		cells := 1
		for _, at := range reads {
			k := slices.IndexFunc(columns, func(c Column) bool { return c.Name == declared[at].HeaderName() })
			if k < 0 {
				break
			}
			set = append(set, k)
			cells *= columns[k].cells()
		}
		if len(set) < len(reads) || len(set) > mostZeroColumns || cells > mostZeroCells {
			continue
		}
		sorted := marginals.NewSet(set...)
		z := marginals.Zeros{Set: sorted, Empty: make([]bool, cells)}
		for cell := range z.Empty {
			z.Empty[cell] = !possible(twin, i, cell, columns, sorted, len(declared), func(k int) int {
				return slices.IndexFunc(declared, func(c *data.Column) bool { return c.HeaderName() == columns[k].Name })
			})
		}
		if slices.Contains(z.Empty, true) {
			zeros = append(zeros, z)
		}
	}
	return zeros, nil
}

// possible reports whether some values of the cell meet the condition.
func possible(twin *simulate.Twin, condition, cell int, columns []Column, set marginals.Set, width int, place func(int) int) bool {
	cells := make([]int, len(set))
	for i := len(set) - 1; i >= 0; i-- {
		n := columns[set[i]].cells()
		cells[i], cell = cell%n, cell/n
	}
	rows := 1
	var values [][]float64
	for i, k := range set {
		values = append(values, columns[k].examples(cells[i]))
		rows *= len(values[i])
	}
	table := make([][]float64, width)
	for k := range table {
		table[k] = make([]float64, rows)
	}
	for r := range rows {
		rest := r
		for i, k := range set {
			n := len(values[i])
			table[place(k)][r], rest = values[i][rest%n], rest/n
		}
	}
	ok := make([]bool, rows)
	twin.Met(ok, table, condition)
	return slices.Contains(ok, true)
}

// examples are values of a cell: its ends and some between.
func (c *Column) examples(cell int) []float64 {
	switch {
	case cell >= c.bins():
		return []float64{math.NaN()}
	case c.Levels > 0:
		return []float64{float64(cell)}
	}
	first, last := c.Bins[cell], c.fine()-1
	if cell+1 < len(c.Bins) {
		last = c.Bins[cell+1] - 1
	}
	from, _ := c.ends(first)
	_, to := c.ends(last)
	list := []float64{}
	for i := range valuesOfCell {
		x := from + (to-from)*float64(i)/(valuesOfCell-1)
		if c.Whole {
			x = math.Round(x)
		}
		list = append(list, x)
	}
	return slices.Compact(list)
}
