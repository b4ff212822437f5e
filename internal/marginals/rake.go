package marginals

import (
	"math"
	"slices"

	"d3p/internal/simd"
	"d3p/internal/stats"
)

// Fit moves single columns last, because each is tied to all tables with it. rakeSweeps of
// proportional fitting bring them to their counts.
const (
	rakeSweeps = 2
	leastCount = 0.01 // expected records of a cell
)

// Rake moves the tree to counts of each column (Deming and Stephan 1940), and leaves relations
// between columns as they are.
func (t *Tree) Rake(columns [][]float64) {
	for range rakeSweeps {
		for i, x := range t.Tables {
			if len(x.Set) != 1 {
				continue
			}
			t.Infer()
			counts := columns[x.Set[0]]
			n := simd.Sum(counts)
			for c, y := range counts {
				if p := n * t.Means[i][c]; p > 0 { // no zero
					t.Theta[i][c] += math.Log(max(y, leastCount) / max(p, leastCount))
				}
			}
		}
	}
	t.Infer()
}

// Nonnegative is a column without negative counts, with the same sum. Cells in order give
// negative counts to their neighbours: the distribution function is made monotone by least
// squares, which leaves quantiles where they are. The other cells are the closest by least
// squares; empty cells in a tail would otherwise hold the positive part of their noise.
func Nonnegative(counts []float64, ordered int) []float64 {
	n := max(0, simd.Sum(counts))
	if ordered < 2 {
		return stats.Simplex(counts, n)
	}
	rest := stats.Simplex(append([]float64{simd.Sum(counts[:ordered])}, counts[ordered:]...), n)
	out := slices.Clone(counts)
	copy(out[ordered:], rest[1:])
	below := make([]float64, ordered)
	at := 0.0
	for c, y := range counts[:ordered] {
		at += y
		below[c] = at
	}
	monotone(below[:ordered-1])
	below[ordered-1] = rest[0]
	last := 0.0
	for c, y := range below {
		y = max(0, min(y, rest[0]))
		out[c], last = y-last, y
	}
	return out
}

// monotone replaces values by the closest ascending ones (pool adjacent violators).
func monotone(values []float64) {
	type block struct {
		mean float64
		size int
	}
	var blocks []block
	for _, v := range values {
		b := block{v, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean > b.mean {
			a := blocks[len(blocks)-1]
			b = block{(a.mean*float64(a.size) + b.mean*float64(b.size)) / float64(a.size+b.size), a.size + b.size}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range b.size {
			values[i] = b.mean
			i++
		}
	}
}
