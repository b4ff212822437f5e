package law

import (
	"cmp"
	"math"
	"slices"

	"d3p/internal/models/dist"
)

// Transport moves values of the column so that they follow the law: levels and missing
// values by the coupling that keeps most of them, numbers in their order. Relations with
// other columns stay, as far as that allows. A column that was not bought stays unchanged.
func (c *Column) Transport(values []float64, rng dist.Rand) {
	if c.Shares == nil {
		return
	}
	missing := 0.0
	if !c.rejects {
		missing = c.Missing
	}
	states := make([]int, len(values))
	for b, v := range values {
		if math.IsNaN(v) {
			states[b] = 1
		}
	}
	couple(states, []float64{1 - missing, missing}, rng)
	var there []int // records with a value
	for b, absent := range states {
		switch {
		case absent == 1:
			values[b] = math.NaN()
			continue
		case math.IsNaN(values[b]):
			values[b] = c.Quantile(rng.Uniform())
		}
		there = append(there, b)
	}
	if c.Edges == nil {
		levels := make([]int, len(there))
		for i, b := range there {
			levels[i] = int(values[b])
		}
		couple(levels, c.Shares, rng)
		for i, b := range there {
			values[b] = float64(levels[i])
		}
		return
	}
	ties := make([]float64, len(values))
	for b := range ties {
		ties[b] = rng.Uniform()
	}
	slices.SortFunc(there, func(a, b int) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(ties[a], ties[b]))
	})
	for i, b := range there {
		values[b] = c.Quantile((float64(i) + rng.Uniform()) / float64(len(there)))
	}
}

// couple changes as few states as it can so that they have the shares want.
func couple(states []int, want []float64, rng dist.Rand) {
	have := make([]float64, len(want))
	for _, s := range states {
		have[s] += 1 / float64(len(states))
	}
	lack, total := make([]float64, len(want)), 0.0
	for s := range want {
		lack[s] = max(want[s]-have[s], 0)
		total += lack[s]
	}
	for b, s := range states {
		if have[s] <= want[s] || rng.Uniform()*have[s] < want[s] {
			continue
		}
		at, to := rng.Uniform()*total, 0
		for ; to < len(lack)-1 && at >= lack[to]; to++ {
			at -= lack[to]
		}
		states[b] = to
	}
}

// Cell is the cell or the level of a value; one past the last for a missing value.
func (c *Column) Cell(x float64) int {
	switch {
	case math.IsNaN(x):
		return len(c.Shares)
	case c.Edges == nil:
		return int(x)
	}
	k, found := slices.BinarySearch(c.Edges, x)
	if !found {
		k--
	}
	return min(max(k, 0), len(c.Shares)-1)
}

// CellShares are the shares of Cell's values among all records.
func (c *Column) CellShares() []float64 {
	missing := c.Missing
	if c.rejects {
		missing = 0
	}
	list := make([]float64, len(c.Shares)+1)
	for k, p := range c.Shares {
		list[k] = (1 - missing) * p
	}
	list[len(c.Shares)] = missing
	return list
}
