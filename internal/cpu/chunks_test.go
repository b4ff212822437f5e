package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// noisyFilter is a filter over the places of a record, with noise per record.
func noisyFilter(t *testing.T) *graph.Tape {
	t.Helper()
	b := graph.NewBuilder()
	tap, f, place := graph.Dim{Name: "tap", Size: 3}, graph.Dim{Name: "f", Size: 4}, graph.Dim{Name: "place", Size: 6}
	var index []int32
	for k := range tap.Size {
		for p := range place.Size {
			index = append(index, int32(k+p))
		}
	}
	x := b.Take(b.Columns(0, graph.Dim{Name: "x", Size: 8}), graph.Shape{tap, place}, index)
	y := b.Tanh(b.MatMul(b.Param("w", graph.Shape{f, tap}), x))
	y = b.Mul(y, b.Aux("eta", graph.Shape{f}, true))
	loss := b.Square(b.MatMul(b.Param("v", graph.Shape{f}), b.Sum(y, "place")))
	tape, err := graph.Compile(b, loss, nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// TestChunksDoNotChangeTheSum checks that the clipped sum of a batch and its count do not
// depend on the size of chunks, up to the order of additions: less memory does not change
// the mechanism. The noise of a record depends on its position in the batch.
func TestChunksDoNotChangeTheSum(t *testing.T) {
	const n = 300
	tape := noisyFilter(t)
	rng := rand.New(rand.NewPCG(8, 9))
	rows := &privacy.Rows{N: n, K: tape.K, Stride: tape.K, Valid: make([]bool, n), F64: make([]float64, n*tape.K)}
	for i := range rows.F64 {
		rows.F64[i] = rng.NormFloat64()
	}
	for i := range n {
		rows.Valid[i] = i%7 != 3
	}
	if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
		t.Fatal(err)
	}
	in := privacy.StepInput{Params: make([]float64, tape.P), RecordNoise: noise.Insecure(4).Stream(noise.RecordNoise), Step: 2}
	for i := range in.Params {
		in.Params[i] = rng.NormFloat64()
	}
	var want []float64
	wantCount := 0.0
	for _, chunk := range []int{256, 16, 32, 96} {
		p, err := compile(tape)
		if err != nil {
			t.Fatal(err)
		}
		p.chunk = chunk
		w := newWorker(p, rows, 1)
		got := make([]float64, tape.P)
		count, err := w.ClippedSum(got, in, nil, true, privacy.Clip{Kind: privacy.Flat, Norm: 5})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want, wantCount = got, count
			continue
		}
		if count != wantCount || math.Abs(count) >= n/2 {
			t.Errorf("chunks of %d: count %g, want %g", chunk, count, wantCount)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-10 {
				t.Errorf("chunks of %d: sum[%d] = %v, want %v", chunk, i, got[i], want[i])
			}
		}
	}
}

// TestChunksAreBounded checks that large records are worked on few at a time.
func TestChunksAreBounded(t *testing.T) {
	for _, test := range []struct{ lanes, parameters, most int }{
		{100, 1000, maxChunk}, {10_000, 1000, minChunk}, {10_000, 1 << 20, largeChunk}, {100_000, 1 << 20, 32}, {10_000_000, 1 << 20, minChunk},
	} {
		p := &program{tape: &graph.Tape{P: test.parameters}, lanes: test.lanes}
		if got := p.chunkSize(); got != test.most || got%chunkUnit != 0 {
			t.Errorf("%d numbers per record and %d parameters: %d records at once, want %d", test.lanes, test.parameters, got, test.most)
		}
	}
}
