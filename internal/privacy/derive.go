package privacy

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// DeriveColumns fills the tape's derived columns, which depend on one record
// each, and makes room for them where there is none. encoded is the number of
// columns that the encoding writes. Engines find them filled.
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
	rows.Widen(t.K)
	const block = 256
	machine := graph.NewMachine(t, block)
	from, to := make([]float64, block*t.K0), make([]float64, block*extra)
	row := make([]float64, rows.K)
	up := roundUp(t)
	for first := 0; first < rows.N; first += block {
		n := min(block, rows.N-first)
		for b := range n {
			rows.Row(first+b, row)
			copy(from[b*t.K0:(b+1)*t.K0], row)
		}
		machine.Derive(to[:n*extra], from[:n*t.K0], t.K0, n)
		for b := range n {
			x := to[b*extra : (b+1)*extra]
			for _, j := range up {
				x[j] = above(x[j], rows.Precision())
			}
			rows.Set(first+b, t.K0, x)
		}
	}
	return nil
}

// roundUp lists the derived columns that hold a squared norm: rounded down, they
// would let a clipped gradient exceed C.
func roundUp(t *graph.Tape) (columns []int) {
	for i := range t.Terms {
		if buf := t.Terms[i].XNorm2; t.Terms[i].Kind == graph.TermOuter && buf != graph.NoBuf {
			columns = append(columns, t.Buffers[buf].Offset-t.K0)
		}
	}
	return columns
}

// above is a number of the given precision that is not below the sum of squares
// of which x is the rounded value. In float64 a sum may have lost something below
// the smallest number; squares of float32 do not.
func above(x float64, p Precision) float64 {
	if p == Float64 {
		return x + 0x1p-1000
	}
	y := float32(x)
	if float64(y) < x {
		y = math.Nextafter32(y, float32(math.Inf(1)))
	}
	return float64(y)
}
