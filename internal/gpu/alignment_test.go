//go:build linux && !nogpu

package gpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// regressionFrom is a logistic regression whose predictors begin at column `first`; the
// columns before them are NaN, and records are `stride` numbers apart.
func regressionFrom(t testing.TB, first, D, N, stride int) (*graph.Tape, *privacy.Rows) {
	t.Helper()
	b := graph.NewBuilder()
	d := graph.Dim{Name: "d", Size: D}
	eta := b.MatMul(b.Columns(first, d), b.Param("w", graph.Shape{d}))
	tape, err := graph.Compile(b, b.Sub(b.Mul(b.Column(first+D), eta), b.Softplus(eta)), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	rows := &privacy.Rows{F32: make([]float32, N*stride), N: N, K: tape.K, Stride: stride, Valid: make([]bool, N)}
	for i := range N {
		rows.Valid[i] = true
		record := rows.F32[i*stride : i*stride+tape.K]
		for j := range record[:first] {
			record[j] = float32(math.NaN())
		}
		for j := range D {
			record[first+j] = float32(rng.NormFloat64())
		}
		record[first+D] = float32(rng.IntN(2))
	}
	if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
		t.Fatal(err)
	}
	return tape, rows
}

// checkAlignment compares sums over records that are read four columns at a time, and one by
// one, with those of one thread: no bit depends on it, nor on other columns of a record.
func checkAlignment(t *testing.T, device, host *Engine) {
	const N = 150
	for _, c := range []struct{ first, D int }{{0, 5}, {0, 128}, {1, 128}, {3, 130}, {2, 259}} {
		aligned := (c.first + c.D + 2 + 3) / 4 * 4 // room for the response and |X|²
		var sums [][]float64
		for _, stride := range []int{aligned, aligned + 1} {
			tape, rows := regressionFrom(t, c.first, c.D, N, stride)
			a, b := openOn(t, device, tape, rows), openOn(t, host, tape, rows)
			if a.p.terms[0].xInRows == 0 {
				t.Fatal("the sum does not read the table")
			}
			sums = append(sums, step(t, a, 67, false), step(t, b, 67, false))
		}
		for _, s := range sums {
			for _, x := range s {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%+v: a sum of %g", c, x)
				}
			}
			same(t, s, sums[0])
		}
		if sums[0][0] == 0 {
			t.Errorf("%+v: all gradients are zero", c)
		}
	}
}

// Sums over a table whose records begin at multiples of 16 bytes are those over any other.
func TestAlignment(t *testing.T) {
	e := newEngine("cuda:test", newOneThread(t, 1<<30), Options{})
	checkAlignment(t, e, e)
}
