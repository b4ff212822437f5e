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
	// table whose records have at most `most` rows. A row's cell depends on that row alone.
	Place(cells []int, rows *Rows, most int) error
}

// CountPlaced returns the noisy number of units in each of p's cells. A unit has weight
// 1, in equal parts on those of its rows that have a cell, so the price is the same as
// for one partition of Counts with this noise. It is charged before a record is read.
func (c *Curator) CountPlaced(purpose string, p Placer, sigma float64) ([]float64, error) {
	partition := Partition{Noise: sigma}
	switch {
	case c.table == nil:
		return nil, errors.New("privacy: the curator has no table to count in")
	case p.Cells() < 1 || p.Cells() > mostCells:
		return nil, fmt.Errorf("privacy: %d cells, want 1 to %d", p.Cells(), mostCells)
	case !(sigma >= leastNoise && sigma <= mostNoise):
		return nil, fmt.Errorf("privacy: noise %g of counts is not in [%g, %g]", sigma, leastNoise, mostNoise)
	}
	if err := agree(c.ranks, c.table.files); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, CountsEvent([]Partition{partition}, c.relation))
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	most := max(1, c.table.cfg.Encoding.RowsPerUnit)
	cells := make([]int, c.rows.N*most)
	if err := ready(c.ranks, p.Place(cells, c.rows, most)); err != nil {
		return nil, err
	}
	counts := exact(weights(cells, most, p.Cells()))
	err = releaseTogether(c.ranks, counts, func() { stream.AddGaussian(counts, sigma) })
	return counts, err
}

// weights are those of the cells of all records.
func weights(cells []int, most, n int) []int64 {
	sums := make([]int64, n)
	none := func(cell int) bool { return cell < 0 || cell >= n }
	for ; len(cells) > 0; cells = cells[most:] {
		weigh(sums, slices.DeleteFunc(cells[:most], none))
	}
	return sums
}
