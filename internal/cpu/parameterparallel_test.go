package cpu

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// largeNetwork has more than largeP parameters; two of its layers share a matrix.
func largeNetwork(t *testing.T) (*graph.Tape, *privacy.Rows, privacy.StepInput) {
	t.Helper()
	w := workload{records: 700, columns: several(300, gaussian, coin), loss: func(b *graph.Builder) *graph.Node {
		x, h := graph.Dim{Name: "x", Size: 300}, graph.Dim{Name: "h", Size: 500}
		shared := b.Param("shared", graph.Shape{{Name: "g", Size: 40}, {Name: "k", Size: 40}})
		wide := b.Tanh(b.Add(b.MatMul(b.Columns(0, x), b.Param("first", graph.Shape{x, h})), b.Param("bias", graph.Shape{h})))
		narrow := b.Tanh(b.MatMul(wide, b.Param("second", graph.Shape{h, {Name: "g", Size: 40}})))
		narrow = b.Tanh(b.MatMul(narrow, shared))
		narrow = b.Tanh(b.MatMul(b.Rename(narrow, "k", "g"), shared))
		return bernoulliLoss(b, b.Column(300), b.MatMul(narrow, b.Param("out", graph.Shape{{Name: "k", Size: 40}})))
	}}
	return w.open(t)
}

// The sum of a large network has the same bits on any number of threads, and agrees with
// the reference.
func TestJointSums(t *testing.T) {
	tape, rows, in := largeNetwork(t)
	p, err := compile(tape)
	if err != nil {
		t.Fatal(err)
	}
	cut := slices.ContainsFunc(p.portions, func(part portion) bool { return part.cut && part.low > 0 })
	together := slices.ContainsFunc(p.portions, func(part portion) bool { return len(part.terms) > 1 })
	if !cut || !together || len(p.portions) < 5 {
		t.Fatalf("portions %+v: the test tests little", p.portions)
	}
	rows.Valid[3] = false
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 0.7}
	batch := make([]uint32, 210)
	for i := range batch {
		batch[i] = uint32((7 * i) % rows.N)
	}
	want, wantCount := make([]float64, tape.P), 0.0
	reference := graph.NewMachine(tape, 1)
	reference.Globals(in.Params, in.Aux)
	row, g := make([]float64, rows.K), make([]float64, tape.P)
	for _, i := range batch {
		if !rows.Valid[i] {
			wantCount += 0.5
			continue
		}
		rows.Row(int(i), row)
		reference.Records(row, len(row), 1, nil)
		reference.Gradient(0, g)
		n := norm(g)
		f := clip.Factor(n)
		for k, x := range g {
			want[k] += f * x
		}
		if wantCount -= 0.5; n <= clip.Norm {
			wantCount++
		}
	}
	var first []float64
	for _, threads := range []int{1, 2, 3, 5} {
		w, err := New(Options{Threads: threads}).Open(tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, tape.P)
		for range 3 {
			count, err := w.ClippedSum(got, in, batch, false, clip)
			if err != nil || count != wantCount {
				t.Fatalf("%d threads: count %g, %v, want %g", threads, count, err, wantCount)
			}
			if first == nil {
				first = slices.Clone(got)
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-11) {
						t.Fatalf("sum[%d] = %g, reference %g", i, got[i], want[i])
					}
				}
			}
			for i := range got {
				if math.Float64bits(got[i]) != math.Float64bits(first[i]) {
					t.Fatalf("sum[%d] = %x on %d threads, %x on one", i, got[i], threads, first[i])
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
