package privacy

import (
	"errors"
	"fmt"
	"slices"
)

// A Placer puts rows in cells, for example by prediction and outcome. Like an engine it
// reads rows and keeps nothing of them.
type Placer interface {
	Cells() int
	// Place sets cells[i*most+r] to the cell of row r of record i, or to -1 for none, of a
	// table whose records have at most `most` rows, and parts[i*most+r], from 0 to 1, to the
	// part of the row's weight that goes to the next cell instead; it is 0 before. Cell and
	// part of a row depend on that row alone.
	Place(cells []int, parts []float64, rows *Rows, most int) error
}

// CountPlaced returns the noisy numbers of units in the cells of each placer, all one
// Gaussian. In each a unit has weight 1, in equal parts on those of its rows that have a
// cell, so the price is the same as for partitions of Counts with this noise. It is charged
// before a record is read.
func (c *Curator) CountPlaced(purpose string, sigma float64, placers ...Placer) ([][]float64, error) {
	if c.table == nil || len(placers) == 0 {
		return nil, errors.New("privacy: the curator has nothing to count")
	}
	if !(sigma >= leastNoise && sigma <= mostNoise) {
		return nil, fmt.Errorf("privacy: noise %g of counts is not in [%g, %g]", sigma, leastNoise, mostNoise)
	}
	var partitions []Partition
	for _, p := range placers {
		if p.Cells() < 1 || p.Cells() > mostCells {
			return nil, fmt.Errorf("privacy: %d cells, want 1 to %d", p.Cells(), mostCells)
		}
		partitions = append(partitions, Partition{Noise: sigma})
	}
	if err := agree(c.ranks, c.table.files); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, CountsEvent(partitions, c.relation))
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

// CountPublic returns the numbers of units in the cells of each placer, without noise: of
// records that anybody may see.
func CountPublic(rows *Rows, most int, placers ...Placer) ([][]float64, error) {
	return place(placers, rows, max(1, most))
}

// place counts the units in the cells of each placer.
func place(placers []Placer, rows *Rows, most int) (counts [][]float64, err error) {
	cells, parts := make([]int, rows.N*most), make([]float64, rows.N*most)
	for _, p := range placers {
		clear(parts)
		if err := p.Place(cells, parts, rows, most); err != nil {
			return nil, err
		}
		counts = append(counts, exact(weights(cells, parts, most, p.Cells())))
	}
	return counts, nil
}

// weights are those of the cells of all records, in units of 1/grain. The weights of a
// record are not negative and add up to at most grain.
func weights(cells []int, parts []float64, most, n int) []int64 {
	sums := make([]int64, n)
	none := func(cell int) bool { return cell < 0 || cell >= n }
	for ; len(cells) > 0; cells, parts = cells[most:], parts[most:] {
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
	return sums
}
