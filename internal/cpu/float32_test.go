package cpu

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// singleNetwork is a network with some products in float32.
func singleNetwork(t *testing.T) (*program, privacy.Worker, *privacy.Rows, privacy.StepInput) {
	t.Helper()
	w := workload{records: 40, narrow: true, columns: several(90, gaussian, coin), loss: func(b *graph.Builder) *graph.Node {
		x, h := graph.Dim{Name: "x", Size: 90}, graph.Dim{Name: "h", Size: 64}
		hidden := b.Tanh(b.MatMul(b.Columns(0, x), b.Param("first", graph.Shape{x, h})))
		hidden = b.Tanh(b.MatMul(b.Rename(hidden, "h", "g"), b.Param("second", graph.Shape{{Name: "g", Size: 64}, h})))
		return bernoulliLoss(b, b.Column(90), b.MatMul(hidden, b.Param("out", graph.Shape{h})))
	}}
	tape, rows, in := w.open(t)
	p, err := compile(tape)
	if err != nil {
		t.Fatal(err)
	}
	worker, err := New(Options{Threads: 1}).Open(tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	return p, worker, rows, in
}

// The forward products of both layers and one backward one are in float32, and
// change the clipped sum by little.
func TestSingleProducts(t *testing.T) {
	p, worker, rows, in := singleNetwork(t)
	single := 0
	for _, i := range p.record {
		if i.instr != nil && i.instr.single >= 0 {
			single++
		}
	}
	if single != 3 || p.single.size != 90*64+64*64 {
		t.Fatalf("%d products in float32 of %d numbers", single, p.single.size)
	}
	wide := &privacy.Rows{N: rows.N, K: rows.K, Stride: rows.Stride, Valid: rows.Valid, F64: make([]float64, len(rows.F32))}
	for i, x := range rows.F32 {
		wide.F64[i] = float64(x)
	}
	reference, err := New(Options{Threads: 1}).Open(p.tape, wide)
	if err != nil {
		t.Fatal(err)
	}
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 0.7}
	got, want := make([]float64, p.tape.P), make([]float64, p.tape.P)
	clipped(t, worker, got, in, nil, clip)
	clipped(t, reference, want, in, nil, clip)
	size, worst, same := 0.0, 0.0, true
	for i := range want {
		size, worst = max(size, math.Abs(want[i])), max(worst, math.Abs(got[i]-want[i]))
		same = same && got[i] == want[i]
	}
	if same || !(worst <= 1e-5*size) {
		t.Errorf("float32 products move a sum of size %g by %g", size, worst)
	}
}

func clipped(t *testing.T, w privacy.Worker, dst []float64, in privacy.StepInput, batch []uint32, clip privacy.Clip) {
	t.Helper()
	if _, err := w.ClippedSum(dst, in, batch, batch == nil, clip); err != nil {
		t.Fatal(err)
	}
}

// One record adds at most norm C to a sum, to the precision of float64, beside any other
// records and at any place in the batch.
func TestSingleProductsKeepTheBound(t *testing.T) {
	p, worker, rows, in := singleNetwork(t)
	const c = 0.3
	clip := privacy.Clip{Kind: privacy.Flat, Norm: c}
	alone, with, without := make([]float64, p.tape.P), make([]float64, p.tape.P), make([]float64, p.tape.P)
	for k := range uint32(rows.N) {
		clipped(t, worker, alone, in, []uint32{k}, clip)
		if n := norm(alone); !(n <= c*(1+1e-13)) || n < c/2 {
			t.Errorf("record %d alone has norm %g, want at most %g", k, n, c)
		}
		others := []uint32{3, 17, 5, 30, 11, 26, 9}[:1+k%7]
		clipped(t, worker, without, in, others, clip)
		clipped(t, worker, with, in, slices.Insert(slices.Clone(others), int(k)%(len(others)+1), k), clip)
		for i := range with {
			if d := math.Abs(with[i] - without[i] - alone[i]); !(d <= 1e-14*c) {
				t.Fatalf("record %d adds %g to parameter %d beside others, %g alone", k, with[i]-without[i], i, alone[i])
			}
		}
	}
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}
