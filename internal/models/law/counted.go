package law

import (
	"math"
	"slices"
)

// countsAll reports whether the counted cells, if there are any, have all cells as their parts.
func (c *Column) countsAll() bool {
	parts := 0
	for _, cell := range c.Counted {
		if cell.Parts < 1 {
			return false
		}
		parts += cell.Parts
	}
	return c.Counted == nil || parts == len(c.Shares)
}

// AsCounted is the column of numbers in its counted cells. ShareSD is the error of a share whatever
// the shape of the column: the noise of the count, or what the share is off the count if that is more.
func (c *Column) AsCounted() Column {
	out := *c
	if c.Counted == nil {
		return out
	}
	out.Edges, out.Shares, out.ShareSD, out.Counted = []float64{c.Edges[0]}, nil, nil, nil
	last := 0
	for _, cell := range c.Counted {
		share := 0.0
		for range cell.Parts {
			share += c.Shares[last]
			last++
		}
		out.Edges = append(out.Edges, c.Edges[last])
		out.Shares = append(out.Shares, share)
		out.ShareSD = append(out.ShareSD, math.Max(cell.SD, math.Abs(share-cell.Share)))
	}
	return out
}

// PartSD is the error of the share part of a counted cell's share all, with the error sd, if the
// records of the cell are all in one part (see WithinCells), or those that the count is off.
func PartSD(part, all, sd float64) float64 {
	return math.Hypot(sd, math.Sqrt(max(0, part*(all-part))))
}

// countedIn are the counted cells when their edges move: to the share of each count comes what the
// column has between its edges of before and after.
func (c *Column) countedIn(edges []float64) []Counted {
	out := slices.Clone(c.Counted)
	last := 0
	for k := range out {
		first := last
		for range out[k].Parts {
			out[k].Share -= c.Shares[last]
			last++
		}
		out[k].Share += c.Below(edges[last]) - c.Below(edges[first])
	}
	return out
}
