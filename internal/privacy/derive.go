package privacy

import (
	"fmt"

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
