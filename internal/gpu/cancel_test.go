//go:build linux && !nogpu

package gpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// Where parts of a gradient cancel, two terms on the same parameters or two places of one
// term, the computed square is all rounding; the released sum must still be no longer
// than C. Here parts of size 1e8 leave a gradient of about 1.
func TestCancellingPartsStayClipped(t *testing.T) {
	const d, N, large, c = 3, 300, 1e8, 0.1
	dim, place := graph.Dim{Name: "dim", Size: d}, graph.Dim{Name: "place", Size: 2}
	for name, loss := range map[string]func(b *graph.Builder) *graph.Node{
		"terms": func(b *graph.Builder) *graph.Node {
			w := b.Param("w", graph.Shape{dim})
			return b.Mul(b.Const(large), b.Sub(b.MatMul(b.Columns(0, dim), w), b.MatMul(b.Columns(d, dim), w)))
		},
		"places": func(b *graph.Builder) *graph.Node {
			x := b.Take(b.Columns(0, graph.Dim{Name: "all", Size: 2 * d}), graph.Shape{dim, place}, []int32{0, 3, 1, 4, 2, 5})
			y := b.MatMul(b.Param("w", graph.Shape{{Name: "out", Size: 2}, dim}), x)
			return b.Mul(b.Const(large), b.Sum(b.Sub(b.Slice(y, "place", 0), b.Slice(y, "place", 1))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := graph.NewBuilder()
			tape, err := graph.Compile(b, loss(b), nil, graph.Options{GradientOnly: true, Columns: 2 * d})
			if err != nil {
				t.Fatal(err)
			}
			if !privacy.Cancels(tape) {
				t.Fatal("nothing can cancel: the test tests nothing")
			}
			rng := rand.New(rand.NewPCG(4, 2))
			rows := &privacy.Rows{F64: make([]float64, N*tape.K), N: N, K: tape.K, Stride: tape.K, Valid: make([]bool, N)}
			for i := range N {
				rows.Valid[i] = true
				for j := range d {
					x := rng.NormFloat64()
					rows.Set(i, j, []float64{x})
					rows.Set(i, d+j, []float64{x + rng.NormFloat64()/large})
				}
			}
			if err := privacy.DeriveColumns(tape, rows, 2*d); err != nil {
				t.Fatal(err)
			}
			w, err := open(t, 0, tape, rows)
			if err != nil {
				t.Fatal(err)
			}
			sum := make([]float64, tape.P)
			for i := range N {
				_, err := w.ClippedSum(sum, privacy.StepInput{Params: make([]float64, tape.P)}, []uint32{uint32(i)}, false, privacy.Clip{Kind: privacy.Flat, Norm: c})
				if err != nil {
					t.Fatal(err)
				}
				l := 0.0
				for _, x := range sum {
					l = math.Hypot(l, x)
				}
				if l > c*(1+1e-6) {
					t.Fatalf("record %d contributes %g, more than C = %g", i, l, c)
				}
			}
		})
	}
}

// A square near the smallest numbers, where it is inexact or zero, that is multiplied by
// a huge one is not too small: here |Delta|² of 1e-330 to 1e-315 meets |X|² of 1e306.
func TestTinySquaresStayClipped(t *testing.T) {
	b := graph.NewBuilder()
	dim := graph.Dim{Name: "d", Size: 2}
	tape, err := graph.Compile(b, b.Mul(b.Column(2), b.MatMul(b.Columns(0, dim), b.Param("w", graph.Shape{dim}))), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, delta := range []float64{1e-165, 2e-162, 1.49e-162, 3e-158} {
		rows := &privacy.Rows{F64: []float64{1e153, 3e152, delta}, N: 1, K: 3, Stride: 3, Valid: []bool{true}}
		if err := privacy.DeriveColumns(tape, rows, 3); err != nil {
			t.Fatal(err)
		}
		const c = 1e-90
		sum, _ := alone(t, tape, rows, make([]float64, 2), privacy.Clip{Kind: privacy.Flat, Norm: c})
		if l := math.Hypot(sum[0], sum[1]); !(l <= c*(1+1e-12)) {
			t.Errorf("a residual of %g: the record contributes %g C", delta, l/c)
		}
	}
}

// alone is the clipped sum of a table's one record.
func alone(t *testing.T, tape *graph.Tape, rows *privacy.Rows, params []float64, clip privacy.Clip) ([]float64, float64) {
	t.Helper()
	w, err := open(t, 0, tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]float64, tape.P)
	count, err := w.ClippedSum(sum, privacy.StepInput{Params: params}, []uint32{0}, false, clip)
	if err != nil {
		t.Fatal(err)
	}
	return sum, count
}
