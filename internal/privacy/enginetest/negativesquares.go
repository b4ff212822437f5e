package enginetest

import (
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// negativeSquares checks that a record counts as zero if its squared norm is negative by
// more than rounding: no gradient has such a square. Here the stored squares of two
// cancelling terms are 0.
func negativeSquares(t *testing.T, engine privacy.Engine) {
	b := graph.NewBuilder()
	dim := graph.Dim{Name: "d", Size: 2}
	w := b.Param("w", graph.Shape{dim})
	tape, err := graph.Compile(b, b.Sub(b.MatMul(b.Columns(0, dim), w), b.MatMul(b.Columns(2, dim), w)), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []struct{ norm2, sum, count float64 }{{5, 1, 0.5}, {0, 0, 0.5}} {
		rows := &privacy.Rows{F64: []float64{1, 2, 2, 1}, N: 1, K: 4, Stride: 4, Valid: []bool{true}}
		if err := privacy.DeriveColumns(tape, rows, 4); err != nil {
			t.Fatal(err)
		}
		for i := range tape.Terms {
			rows.Set(0, tape.Buffers[tape.Terms[i].XNorm2].Offset, []float64{stored.norm2})
		}
		worker, err := engine.Open(tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]float64, 2)
		count, err := worker.ClippedSum(sum, privacy.StepInput{Params: make([]float64, 2)}, []uint32{0}, false, privacy.Clip{Kind: privacy.Flat, Norm: 10})
		if err != nil {
			t.Fatal(err)
		}
		if sum[0] != -stored.sum || sum[1] != stored.sum || count != stored.count {
			t.Errorf("with stored squares %g: sum %v, count %g, want ±%g and %g", stored.norm2, sum, count, stored.sum, stored.count)
		}
		if err := worker.Close(); err != nil {
			t.Error(err)
		}
	}
}
