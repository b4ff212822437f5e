package privacy

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

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
	block := t.BatchSize()
	blocks := (rows.N + block - 1) / block
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(blocks, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			d := newDerivation(t, rows, block)
			for k := next.Add(1) - 1; k < int64(blocks); k = next.Add(1) - 1 {
				first := int(k) * block
				d.records(first, min(first+block, rows.N))
			}
		})
	}
	wait.Wait()
	return nil
}

// derivation computes the derived columns of a few records at a time.
type derivation struct {
	tape     *graph.Tape
	rows     *Rows
	machine  *graph.Machine
	from, to []float64
	row      []float64
	norms    []storedNorm
}

func newDerivation(t *graph.Tape, rows *Rows, most int) *derivation {
	return &derivation{
		t, rows, graph.NewMachine(t, most), make([]float64, most*t.K0), make([]float64, most*(t.K-t.K0)),
		make([]float64, rows.K), storedNorms(t),
	}
}

// records derives those of records low to before high.
func (d *derivation) records(low, high int) {
	t, n, extra := d.tape, high-low, d.tape.K-d.tape.K0
	for b := range n {
		d.rows.Row(low+b, d.row)
		copy(d.from[b*t.K0:(b+1)*t.K0], d.row)
	}
	d.machine.Derive(d.to[:n*extra], d.from[:n*t.K0], t.K0, n)
	var norm2 [1]float64
	for b := range n {
		d.rows.Set(low+b, t.K0, d.to[b*extra:(b+1)*extra])
		d.rows.Row(low+b, d.row)
		for _, s := range d.norms {
			norm2[0] = s.of(d.row, d.rows.Precision())
			d.rows.Set(low+b, s.column, norm2[:])
		}
	}
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
