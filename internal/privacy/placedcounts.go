package privacy

import (
	"errors"
	"fmt"
	"slices"
)

// A Placer puts rows in the cells of one or more tables, for example by prediction and
// outcome. Like an engine it reads rows and keeps none of them.
type Placer interface {
	Cells() []int // of each table
	// Place puts the rows of a range in cells. Cell and part of a row depend on the rows of its unit alone.
	Place(tables []Placed, of RowRange) error
}

// A RowRange is the records from Low to below High of Rows, each of at most Most rows.
type RowRange struct {
	*Rows
	Low, High, Most int
}

// Placed has the places of the rows of a range in one table: Cells[(i-Low)*Most+r] is the
// cell of row r of record i, -1 for none. Parts[(i-Low)*Most+r], from 0 to 1, is the part
// of the row's weight that goes to the next cell instead. All are 0 at first.
type Placed struct {
	Cells []int
	Parts []float64
}

// rangeRecords is the number of records that are placed together.
const rangeRecords = 1 << 12

// CountPlaced returns the noisy numbers of units in the cells of each table, all one
// Gaussian. A unit has weight 1 in each table, in equal parts on its rows that have a cell,
// so the price is that of partitions of Counts with this noise. It is charged before a
// record is read.
func (c *Curator) CountPlaced(purpose string, sigma float64, placers ...Placer) ([][]float64, error) {
	if c.table == nil || len(placers) == 0 {
		return nil, errors.New("privacy: the curator has nothing to count")
	}
	if !(sigma >= leastNoise && sigma <= mostNoise) {
		return nil, fmt.Errorf("privacy: noise %g of counts is not in [%g, %g]", sigma, leastNoise, mostNoise)
	}
	var partitions []Partition
	for _, p := range placers {
		for _, n := range p.Cells() {
			if n < 1 || n > mostCells {
				return nil, fmt.Errorf("privacy: %d cells, want 1 to %d", n, mostCells)
			}
			partitions = append(partitions, Partition{Noise: sigma})
		}
	}
	if err := agree(c.ranks, c.table.files, errFilesDiffer); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, CountsEvent(partitions, c.relation), c.table.cfg.Encoding, partitions, placers)
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	counts, err := place(placers, c.rows, max(1, c.table.cfg.Encoding.RowsPerUnit))
	if err := ready(c.ranks, err); err != nil {
		return nil, err
	}
	all := slices.Concat(counts...)
	err = releaseTogether(c.ranks, all, func() { stream.AddGaussian(all, sigma) })
	for i := range counts {
		counts[i], all = all[:len(counts[i])], all[len(counts[i]):]
	}
	return counts, err
}

// CountPublic returns the numbers of units in the cells of each table, without noise: of
// public records.
func CountPublic(rows *Rows, most int, placers ...Placer) ([][]float64, error) {
	return place(placers, rows, max(1, most))
}

// place counts the units in the cells of each table.
func place(placers []Placer, rows *Rows, most int) (counts [][]float64, err error) {
	for _, p := range placers {
		var sums [][]int64
		var tables []Placed
		for _, n := range p.Cells() {
			room := min(rangeRecords, rows.N) * most
			sums, tables = append(sums, make([]int64, n)), append(tables, Placed{make([]int, room), make([]float64, room)})
		}
		for low := 0; low < rows.N; low += rangeRecords {
			of := RowRange{rows, low, min(low+rangeRecords, rows.N), most}
			for t := range tables {
				n := (of.High - low) * most
				tables[t] = Placed{tables[t].Cells[:n], tables[t].Parts[:n]}
				clear(tables[t].Cells)
				clear(tables[t].Parts)
			}
			if err := p.Place(tables, of); err != nil {
				return nil, err
			}
			for t := range tables {
				tables[t].add(sums[t], most)
			}
		}
		for _, sum := range sums {
			counts = append(counts, exact(sum))
		}
	}
	return counts, nil
}

// add adds the weights of the cells of all records, in units of 1/grain. The weights of a
// record are not negative and add up to at most grain.
func (p Placed) add(sums []int64, most int) {
	n := len(sums)
	none := func(cell int) bool { return cell < 0 || cell >= n }
	for cells, parts := p.Cells, p.Parts; len(cells) > 0; cells, parts = cells[most:], parts[most:] {
		rows := int64(0)
		for _, cell := range cells[:most] {
			if !none(cell) {
				rows++
			}
		}
		for r, cell := range cells[:most] {
			if none(cell) {
				continue
			}
			weight, next := grain/rows, int64(0)
			if x := parts[r]; x > 0 && cell+1 < n { // NaN is not
				next = int64(min(x, 1) * float64(weight))
				sums[cell+1] += next
			}
			sums[cell] += weight - next
		}
	}
}
