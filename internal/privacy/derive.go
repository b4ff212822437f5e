package privacy

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// DeriveColumns fills the tape's derived columns, which depend on one record each:
// first those that the tape computes, then the squared norms of stored columns. It
// makes room for them if needed. encoded is the number of columns that the encoding
// writes.
func DeriveColumns(t *graph.Tape, rows *Rows, encoded int) error {
	if t.K0 > encoded {
		return fmt.Errorf("privacy: the tape reads %d columns of an encoding with %d", t.K0, encoded)
	}
	extra := t.K - t.K0
	if extra == 0 {
		return nil
	}
	if t.K0 < encoded {
		return fmt.Errorf("privacy: the tape's derived columns start at %d, inside an encoding of %d columns (compile it with Options.Columns)", t.K0, encoded)
	}
	if err := rows.Widen(t.K); err != nil {
		return err
	}
	const block = 256
	machine := graph.NewMachine(t, block)
	from, to := make([]float64, block*t.K0), make([]float64, block*extra)
	row, norm2 := make([]float64, rows.K), make([]float64, 1)
	norms := storedNorms(t)
	for first := 0; first < rows.N; first += block {
		n := min(block, rows.N-first)
		for b := range n {
			rows.Row(first+b, row)
			copy(from[b*t.K0:(b+1)*t.K0], row)
		}
		machine.Derive(to[:n*extra], from[:n*t.K0], t.K0, n)
		for b := range n {
			rows.Set(first+b, t.K0, to[b*extra:(b+1)*extra])
			rows.Row(first+b, row)
			for _, s := range norms {
				norm2[0] = s.of(row, rows.Precision())
				rows.Set(first+b, s.column, norm2)
			}
		}
	}
	return nil
}

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
