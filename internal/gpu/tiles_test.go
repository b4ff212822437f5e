//go:build linux && !nogpu

package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// network is a regression on 40 predictors and 24 others through layers of 130 and 60
// units. Its products are taken in tiles; no size is a multiple of a tile, and two
// products are added.
func network(t testing.TB, N int) (*graph.Tape, *privacy.Rows) {
	t.Helper()
	b := graph.NewBuilder()
	in, more, h1, h2 := graph.Dim{Name: "in", Size: 40}, graph.Dim{Name: "more", Size: 24}, graph.Dim{Name: "h1", Size: 130}, graph.Dim{Name: "h2", Size: 60}
	x := b.Columns(0, in)
	first := b.MatMul(x, b.Param("w1", graph.Shape{in, h1}))
	// after a chain that follows a product there is one that needs no barrier of all blocks
	both := b.Add(b.Mul(first, b.Tanh(first)), b.MatMul(b.Columns(41, more), b.Param("w4", graph.Shape{more, h1})))
	a := b.Tanh(b.Add(both, b.Param("b1", graph.Shape{h1})))
	a = b.Tanh(b.Add(b.MatMul(a, b.Param("w2", graph.Shape{h1, h2})), b.Param("b2", graph.Shape{h2})))
	out := b.MatMul(a, b.Param("w3", graph.Shape{h2}))
	tape, err := graph.Compile(b, b.Mul(b.Const(-0.5), b.Square(b.Sub(b.Column(40), out))), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := &privacy.Rows{F64: make([]float64, N*tape.K), N: N, K: tape.K, Stride: tape.K, Valid: make([]bool, N)}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range rows.F64 {
		rows.F64[i] = rng.NormFloat64()
	}
	for i := range N {
		rows.Valid[i] = i%17 > 0
	}
	rows.F64[3*tape.K+7] = math.NaN() // must not reach the others in its tile
	if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
		t.Fatal(err)
	}
	return tape, rows
}

// All blocks together on one chunk give what the CPU engine gives.
func TestTilesAgreeWithCPU(t *testing.T) {
	tape, rows := network(t, 700)
	w, err := open(t, 0, tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	if w.p.wide() == 0 || Products(tape) != 2*((40+24)*130+130*60+60)+130*60+60 {
		t.Fatalf("%d products per record, chunks of %d", Products(tape), w.p.wide())
	}
	checkAgainstCPU(t, tape, rows, []int{1, 31, 32, 33, 600, 700}, 1e-13)
}

// The products of filters, with a column for each place of a record, agree, too.
func TestTilesOfFiltersAgreeWithCPU(t *testing.T) {
	const places, N = 5, 70
	in, out, h := graph.Dim{Name: "in", Size: 18}, graph.Dim{Name: "out", Size: 70}, graph.Dim{Name: "h", Size: 66}
	place := graph.Dim{Name: "place", Size: places}
	index := make([]int32, in.Size*places)
	for i := range index {
		index[i] = int32(i%places*in.Size + i/places)
	}
	b := graph.NewBuilder()
	x := b.Take(b.Columns(0, graph.Dim{Name: "all", Size: len(index)}), graph.Shape{in, place}, index)
	y := b.Tanh(b.MatMul(b.Param("w1", graph.Shape{out, in}), x))
	z := b.Tanh(b.MatMul(b.Param("w2", graph.Shape{h, out}), y))
	tape, err := graph.Compile(b, b.Sum(b.Square(z)), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		rows      *privacy.Rows
		tolerance float64 // norms are rounded up where places can cancel
	}{
		{&privacy.Rows{F64: make([]float64, N*tape.K)}, 1e-11},
		{&privacy.Rows{F32: make([]float32, N*tape.K)}, 1e-5},
	} {
		rows := c.rows
		rows.N, rows.K, rows.Stride, rows.Valid = N, tape.K, tape.K, make([]bool, N)
		for i := range N {
			rows.Valid[i] = true
			for j := range index {
				rows.Set(i, j, []float64{rng.NormFloat64()})
			}
		}
		if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(rows.Precision()), func(t *testing.T) { checkAgainstCPU(t, tape, rows, []int{1, 7, N}, c.tolerance) })
	}
}

// checkAgainstCPU compares clipped sums over batches of some sizes, to a
// tolerance in units of the size and the clip norm.
func checkAgainstCPU(t *testing.T, tape *graph.Tape, rows *privacy.Rows, sizes []int, tolerance float64) {
	t.Helper()
	w, err := open(t, 0, tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := cpu.New(cpu.Options{Threads: 1}).Open(tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	rng := rand.New(rand.NewPCG(7, 8))
	in := privacy.StepInput{Params: make([]float64, tape.P)}
	for i := range in.Params {
		in.Params[i] = 0.2 * rng.NormFloat64()
	}
	got, want := make([]float64, tape.P), make([]float64, tape.P)
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 3}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			batch := make([]uint32, size)
			for i, k := range rng.Perm(rows.N)[:size] {
				batch[i] = uint32(k)
			}
			a, err := w.ClippedSum(got, in, batch, false, clip)
			if err != nil {
				t.Fatal(err)
			}
			b, err := reference.ClippedSum(want, in, batch, false, clip)
			if err != nil {
				t.Fatal(err)
			}
			if a != b {
				t.Errorf("count %g, want %g", a, b)
			}
			for i := range want {
				if math.Abs(got[i]-want[i]) > tolerance*float64(size)*clip.Norm {
					t.Fatalf("sum[%d] = %g, want %g", i, got[i], want[i])
				}
			}
		})
	}
}
