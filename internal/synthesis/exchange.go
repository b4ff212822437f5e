package synthesis

import "slices"

// exchanges is how often each record that breaks a constraint is offered another's value.
const exchanges = 100

// exchange lets records that break a rule of several columns exchange a number with another
// record of the same cell, where both then meet the constraints. So a column keeps its values
// within each cell, which a record that is drawn again loses: of two dates in one order, the
// earlier would come out too early and the later too late. It returns the records that still
// break a constraint.
func (d *Drawer) exchange(all [][]float64, ok []bool, cells [][]int32, place []int, random Random) (left []int) {
	columns, members := d.exchangeable(cells)
	for range exchanges {
		left = left[:0]
		for i, met := range ok {
			if !met {
				left = append(left, i)
			}
		}
		if len(left) == 0 || len(columns) == 0 {
			return left
		}
		type offer struct{ column, from, to int }
		var offers []offer
		busy := make(map[int]bool)
		for _, i := range left {
			k := columns[int(random.Uniform()*float64(len(columns)))]
			same := members[k][cells[k][i]]
			if j := same[int(random.Uniform()*float64(len(same)))]; i != j && !busy[i] && !busy[j] {
				busy[i], busy[j] = true, true
				offers = append(offers, offer{k, i, j})
			}
		}
		table, met := make([][]float64, len(all)), make([]bool, 2*len(offers))
		for c := range table {
			table[c] = make([]float64, len(met))
			for o, x := range offers {
				table[c][2*o], table[c][2*o+1] = all[c][x.from], all[c][x.to]
				if c == place[x.column] {
					table[c][2*o], table[c][2*o+1] = all[c][x.to], all[c][x.from]
				}
			}
		}
		d.twin.Met(met, table, -1)
		for o, x := range offers {
			if met[2*o] && (met[2*o+1] || !ok[x.to]) {
				column := all[place[x.column]]
				column[x.from], column[x.to] = column[x.to], column[x.from]
				ok[x.from], ok[x.to] = true, met[2*o+1]
			}
		}
	}
	return slices.DeleteFunc(left, func(i int) bool { return ok[i] })
}

// exchangeable are the numbers that rules of several columns read, and the records in each of
// their cells.
func (d *Drawer) exchangeable(cells [][]int32) (columns []int, members map[int][][]int) {
	members = make(map[int][][]int)
	for _, r := range d.rules {
		if len(r.Set) < 2 || !slices.Contains(r.some, true) {
			continue
		}
		for _, k := range r.Set {
			c := &d.table.Columns[k]
			if c.Levels > 0 || members[k] != nil {
				continue
			}
			columns, members[k] = append(columns, k), make([][]int, c.cells())
			for i, cell := range cells[k] {
				members[k][cell] = append(members[k][cell], i)
			}
		}
	}
	return columns, members
}
