package privacy_test

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// The normals of records are dealt out by place in the batch: for whoever knew
// them, one record less would give every later one another's, and move the sum by
// much more than C. They are secret, and differ between runs.
func TestRecordNoiseIsSecret(t *testing.T) {
	b := graph.NewBuilder()
	slope := b.Mul(b.Column(0), b.Aux("eta", nil, true))
	tape, err := graph.Compile(b, b.Mul(slope, b.Param("w", nil)), nil, graph.Options{GradientOnly: true, Columns: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows := &privacy.Rows{N: 100, K: 1, Stride: 1, F64: make([]float64, 100), Valid: slices.Repeat([]bool{true}, 100)}
	for i := range rows.F64 {
		rows.F64[i] = 1e6 * math.Cos(math.Pi*float64(i)) // of two signs, and clipped
	}
	all := make([]uint32, rows.N)
	for i := range all {
		all[i] = uint32(i)
	}
	sum := func(seed uint64, batch []uint32) float64 {
		dst := make([]float64, 1)
		in := privacy.StepInput{Params: []float64{1}, RecordNoise: noise.Insecure(seed).Stream(noise.RecordNoise)}
		worker, err := cpu.New(cpu.Options{Threads: 1}).Open(tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		defer worker.Close()
		if _, err := worker.ClippedSum(dst, in, batch, false, privacy.Clip{Kind: privacy.Flat, Norm: 1}); err != nil {
			t.Fatal(err)
		}
		return dst[0]
	}
	moved := 0.0
	for seed := range uint64(20) {
		moved = max(moved, math.Abs(sum(seed, all)-sum(seed, all[1:])))
	}
	if moved < 3 {
		t.Errorf("with known noise a record moves the sum by %g: what is this test about?", moved)
	}
	if sum(1, all) == sum(2, all) && sum(3, all) == sum(4, all) {
		t.Error("roots share the noise of records")
	}
	if !noise.RecordNoise.Private() {
		t.Error("a public root serves the noise of records, so one record moves the others")
	}
}
