package cpu

import (
	"math"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// slidingFilter applies a filter of taps and outputs to windows of a vector.
func slidingFilter(b *graph.Builder, name string, x *graph.Node, taps, outputs, places int) *graph.Node {
	tap, f, place := graph.Dim{Name: name + " tap", Size: taps}, graph.Dim{Name: name + " f", Size: outputs}, graph.Dim{Name: name + " place", Size: places}
	index := make([]int32, 0, taps*places)
	for t := range taps {
		for p := range places {
			index = append(index, int32((7*t+p)%x.Size()))
		}
	}
	return b.Tanh(b.MatMul(b.Param(name, graph.Shape{f, tap}), b.Take(x, graph.Shape{tap, place}, index)))
}

// TestJointSumsOfFilters checks a network of more than largeP parameters with
// filters of both kinds of norm on several threads, against the reference.
func TestJointSumsOfFilters(t *testing.T) {
	w := workload{records: 300, columns: several(64, gaussian, coin), loss: func(b *graph.Builder) *graph.Node {
		y := slidingFilter(b, "first", b.Columns(0, graph.Dim{Name: "x", Size: 64}), 9, 4, 50)
		y = slidingFilter(b, "second", y, 60, 40, 6)
		in, h := graph.Dim{Name: "in", Size: 240}, graph.Dim{Name: "h", Size: 150}
		z := b.Tanh(b.MatMul(b.Reshape(y, graph.Shape{in}), b.Param("dense", graph.Shape{in, h})))
		return bernoulliLoss(b, b.Column(64), b.MatMul(z, b.Param("out", graph.Shape{h})))
	}}
	tape, rows, in := w.open(t)
	p, err := compile(tape)
	if err != nil {
		t.Fatal(err)
	}
	if tape.P <= largeP || p.kept == 0 || !p.tape.Terms[1].Gram {
		t.Fatalf("%d parameters, %d kept, terms %+v: the test tests little", tape.P, p.kept, p.tape.Terms)
	}
	checkClippedSums(t, tape, rows, in)
}

// checkClippedSums compares clipped sums on one thread and on three with the reference.
func checkClippedSums(t *testing.T, tape *graph.Tape, rows *privacy.Rows, in privacy.StepInput) {
	t.Helper()
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 0.5}
	batch := make([]uint32, 150)
	want, g, row := make([]float64, tape.P), make([]float64, tape.P), make([]float64, rows.K)
	reference := graph.NewMachine(tape, 1)
	reference.Globals(in.Params, in.Aux)
	for i := range batch {
		batch[i] = uint32((7 * i) % rows.N)
		rows.Row(int(batch[i]), row)
		reference.Records(row, len(row), 1, nil)
		reference.Gradient(0, g)
		f := clip.Factor(norm(g))
		for k, x := range g {
			want[k] += f * x
		}
	}
	var first []float64
	for _, threads := range []int{1, 3} {
		worker, err := New(Options{Threads: threads}).Open(tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, tape.P)
		for range 3 {
			if _, err := worker.ClippedSum(got, in, batch, false, clip); err != nil {
				t.Fatal(err)
			}
		}
		if err := worker.Close(); err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-9 {
				t.Fatalf("%d threads: sum[%d] = %v, want %v", threads, k, got[k], want[k])
			}
			if first != nil && math.Float64bits(got[k]) != math.Float64bits(first[k]) {
				t.Fatalf("sum[%d] = %x on %d threads, %x on one", k, got[k], threads, first[k])
			}
		}
		first = got
	}
}
