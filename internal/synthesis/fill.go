package synthesis

import (
	"fmt"
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
	"d3p/internal/stats"
)

// Fill fills in a table of simulate.Twin.Table. Independent records vary as records of
// the family do; the others vary less. Records that break a constraint are drawn again.
func (d *Drawer) Fill(out simulate.Table, random Random, independent bool) error {
	n := len(out.Values[0])
	all := make([][]float64, len(d.declared))
	place := make([]int, len(d.table.Columns))
	for k, c := range d.table.Columns {
		place[k] = slices.IndexFunc(d.declared, func(x *data.Column) bool { return x.HeaderName() == c.Name })
	}
	first, vain := 0, 0
	for first < n {
		need := n - first
		if first > 0 || vain > 0 {
			need = max(need, 1000)
		}
		cells := d.sample(need, random, independent)
		for k := range all {
			all[k] = make([]float64, need)
		}
		var quantiles [][]float64
		if !independent {
			quantiles = d.quantiles(cells, random)
		}
		ok := d.values(all, cells, quantiles, place, random)
		before := first
		for i := 0; i < need && first < n; i++ {
			if !ok[i] {
				continue
			}
			for k, c := range out.Columns {
				at := slices.IndexFunc(d.declared, func(x *data.Column) bool { return x == c })
				out.Values[k][first] = all[at][i]
			}
			first++
		}
		if vain++; before < first {
			vain = 1
		}
		if vain > hopeless {
			return fmt.Errorf("hardly any synthetic record meets the constraints: they contradict the fitted table")
		}
	}
	shuffle(out, random)
	return nil
}

// values draws values in the cells of records and reports which records meet the constraints.
// Those that do not exchange values with others, see exchange, and else are drawn again in the
// same cells: to leave the record out would move the shares of cells. In cells that a rule divides, the rule's columns have one quantile: of two
// dates in one order, or two amounts, each keeps its own distribution within the cell. place is
// the index in all of each column. quantiles are those of the first try by column; nil: random.
func (d *Drawer) values(all [][]float64, cells [][]int32, quantiles [][]float64, place []int, random Random) (ok []bool) {
	n := len(cells[0])
	ok = make([]bool, n)
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	some, met := make([][]float64, len(all)), make([]bool, n)
	for try := range mostRedrawn {
		for k := range some {
			some[k] = make([]float64, len(left))
		}
		for j, i := range left {
			for k := range cells {
				u := 0.0
				if try == 0 && quantiles != nil {
					u = quantiles[k][i]
				} else {
					u = random.Uniform()
				}
				some[place[k]][j] = d.table.Columns[k].value(int(cells[k][i]), u)
			}
			if try%2 == 0 {
				d.together(some, j, cells, i, place, random)
			}
		}
		d.twin.Met(met[:len(left)], some, -1)
		vain := left[:0]
		for j, i := range left {
			for k := range all {
				all[k][i] = some[k][j]
			}
			if ok[i] = met[j]; !ok[i] {
				vain = append(vain, i)
			}
		}
		if try == 0 {
			vain = d.exchange(all, ok, cells, place, random)
		}
		if left = vain; len(left) == 0 {
			break
		}
	}
	return ok
}

// quantiles gives the records of each cell of a column evenly spaced quantiles in random order,
// so that the values within a cell are as close to its shape as their number allows.
func (d *Drawer) quantiles(cells [][]int32, random Random) [][]float64 {
	list := make([][]float64, len(cells))
	order := make([]int, len(cells[0]))
	for i := range order {
		order[i] = i
	}
	for k := range cells {
		list[k] = make([]float64, len(order))
		c := &d.table.Columns[k]
		if c.Levels > 0 {
			continue // its cells are its values
		}
		stats.Shuffle(order, random)
		counts, place := make([]float64, c.cells()), make([]float64, c.cells())
		for _, cell := range cells[k] {
			counts[cell]++
		}
		for _, i := range order {
			cell := cells[k][i]
			list[k][i] = (place[cell] + random.Uniform()) / counts[cell]
			place[cell]++
		}
	}
	return list
}

// together gives all columns of a rule the same quantile, in row j of the values, if the
// rule divides the cells of record i.
func (d *Drawer) together(values [][]float64, j int, cells [][]int32, i int, place []int, random Random) {
	u := -1.0
	for _, r := range d.rules {
		if len(r.Set) < 2 {
			continue
		}
		cell := 0
		for _, k := range r.Set {
			cell = cell*d.table.Columns[k].cells() + int(cells[k][i])
		}
		if !r.some[cell] {
			continue
		}
		if u < 0 {
			u = random.Uniform()
		}
		for _, k := range r.Set {
			values[place[k]][j] = d.table.Columns[k].value(int(cells[k][i]), u)
		}
	}
}

// sample draws n records. Those that are not independent have tables, over the sets of the
// workload and over triples, as close to the family's as their number allows.
func (d *Drawer) sample(n int, random Random, independent bool) [][]int32 {
	if independent || d.sets == nil {
		return d.tree.Sample(n, random, independent)
	}
	spare := int(min(mostSpare, spareNumbers/float64(n*len(d.tree.Domain)), mostCompared/float64(n*len(d.sets))))
	if spare < 2 {
		return d.tree.Sample(n, random, false)
	}
	sets := d.sets
	if all := slices.Concat(sets, d.triples); float64(len(all))*float64(spare*n) <= mostCompared {
		sets = all
	}
	return d.tree.Domain.Thin(d.tree.Sample(spare*n, random, false), n, sets, random)
}

// shuffle puts the records in random order: the sampler draws them by cell.
func shuffle(out simulate.Table, random Random) {
	for i := len(out.Values[0]) - 1; i > 0; i-- {
		j := int(random.Uniform() * float64(i+1))
		for _, column := range out.Values {
			column[i], column[j] = column[j], column[i]
		}
	}
}
