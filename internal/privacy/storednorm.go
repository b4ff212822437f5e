package privacy

import (
	"math"

	"d3p/internal/models/graph"
)

// A storedNorm is a derived column with the squared norm of a term's X, whose Size columns
// from First on are in the table. Engines take the term's square from it and its inner
// products and sums from the columns. So it is a function of the numbers that the table
// stores, in their precision.
type storedNorm struct{ column, first, size int }

// storedNorms lists the stored norms of a tape, each once.
func storedNorms(t *graph.Tape) (list []storedNorm) {
	seen := map[graph.Buf]bool{}
	for i := range t.Terms {
		to, x := t.Terms[i].XNorm2, t.Terms[i].X
		if to == graph.NoBuf || seen[to] {
			continue
		}
		seen[to] = true
		list = append(list, storedNorm{t.Buffers[to].Offset, t.Buffers[x].Offset, t.Buffers[x].Size})
	}
	return list
}

// of is the squared norm for a stored row, in a number of its precision. Float32 squares
// are exact in float64, and their sum is rounded up to float32. In float64 the sum is
// raised by more than what squares lose below the smallest number. What the additions
// lose is in RoundingAllowance.
func (s storedNorm) of(row []float64, p Precision) float64 {
	sum := 0.0
	for _, x := range row[s.first : s.first+s.size] {
		sum += x * x
	}
	if p == Float64 {
		return sum + 0x1p-1000
	}
	y := float32(sum)
	if float64(y) < sum {
		y = math.Nextafter32(y, float32(math.Inf(1)))
	}
	return float64(y)
}
