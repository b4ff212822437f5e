package marginals

import "math"

// longWeight keeps triples, which are many, from outweighing pairs.
const longWeight = 0.3

// Thin chooses n of the records (a slice of cells for each column of the domain) so that
// tables over the sets have shares close to those of all records, closer than drawn records
// have. From each run of len/n records in random order it takes the record whose cells the
// chosen records lack most (Chen, Welling and Smola 2010, arXiv:1203.3472). The weight of a
// cell is the inverse of its count's standard deviation, times longWeight in tables of more
// than two columns. Thin changes the records' order.
func (d Domain) Thin(records [][]int32, n int, sets []Set, random Random) [][]int32 {
	all := len(records[0])
	for i := all - 1; i > 0; i-- {
		j := int(random.Uniform() * float64(i+1))
		for _, column := range records {
			column[i], column[j] = column[j], column[i]
		}
	}
	thinned := make([]thinnedTable, len(sets))
	for i, s := range sets {
		counts := make([]float64, d.Cells(s))
		d.Count(counts, Table{Set: s}, records)
		x := thinnedTable{cells: make([]thinnedCell, len(counts))}
		step := 1
		for j := len(s) - 1; j >= 0; j-- {
			x.columns, x.steps = append(x.columns, records[s[j]]), append(x.steps, step)
			step *= d[s[j]]
		}
		weight := 1.0
		if len(s) > 2 {
			weight = longWeight
		}
		for c, y := range counts {
			share := y / float64(all)
			x.cells[c] = thinnedCell{share: float32(share), weight: float32(weight / math.Sqrt(1+float64(n)*share))}
		}
		thinned[i] = x
	}
	out := make([][]int32, len(records))
	for k := range out {
		out[k] = make([]int32, n)
	}
	for t := range n {
		first, next := t*all/n, (t+1)*all/n
		best, most := first, float32(math.Inf(-1))
		for r := first; r < next; r++ {
			lack := float32(0)
			for i := range thinned {
				c := thinned[i].cell(r)
				lack += c.weight * (float32(t)*c.share - c.count)
			}
			if lack > most {
				best, most = r, lack
			}
		}
		for i := range thinned {
			thinned[i].cell(best).count++
		}
		for k := range out {
			out[k][t] = records[k][best]
		}
	}
	return out
}

// thinnedTable is a table over some columns of records.
type thinnedTable struct {
	columns [][]int32
	steps   []int
	cells   []thinnedCell
}

type thinnedCell struct {
	share  float32 // of all records
	count  float32 // of the chosen ones
	weight float32
}

func (t *thinnedTable) cell(record int) *thinnedCell {
	at := 0
	for i, column := range t.columns {
		at += int(column[record]) * t.steps[i]
	}
	return &t.cells[at]
}
