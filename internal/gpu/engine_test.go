//go:build linux && !nogpu

package gpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// regression is a logistic regression on D predictors, with an intercept that
// is drawn per record, on N records.
func regression(t testing.TB, D, N int) (*graph.Tape, *privacy.Rows) {
	t.Helper()
	return regressionWith(t, D, N, func(b *graph.Builder) *graph.Node {
		return b.Add(b.Param("m", nil), b.Mul(b.Exp(b.Neg(b.Param("log_s", nil))), b.Aux("eta", nil, true)))
	})
}

// plainRegression has an intercept that is the same for all records.
func plainRegression(t testing.TB, D, N int) (*graph.Tape, *privacy.Rows) {
	t.Helper()
	return regressionWith(t, D, N, func(b *graph.Builder) *graph.Node { return b.Param("m", nil) })
}

func regressionWith(t testing.TB, D, N int, intercept func(*graph.Builder) *graph.Node) (*graph.Tape, *privacy.Rows) {
	t.Helper()
	b := graph.NewBuilder()
	d := graph.Dim{Name: "d", Size: D}
	eta := b.Add(b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d})), intercept(b))
	y := b.Column(D)
	tape, err := graph.Compile(b, b.Sub(b.Mul(y, eta), b.Softplus(eta)), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	rows := &privacy.Rows{F32: make([]float32, N*tape.K), N: N, K: tape.K, Stride: tape.K, Valid: make([]bool, N)}
	for i := range rows.F32 {
		rows.F32[i] = float32(rng.NormFloat64())
	}
	for i := range N {
		rows.Valid[i] = true
		rows.F32[i*tape.K+D] = float32(rng.IntN(2))
	}
	if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
		t.Fatal(err)
	}
	return tape, rows
}

func open(t testing.TB, memory int64, tape *graph.Tape, rows *privacy.Rows) (*worker, error) {
	t.Helper()
	w, err := newEngine("cuda:7", newOneThread(t, 1<<30), Options{MaxMemory: memory}).Open(tape, rows)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w.(*worker), nil
}

// step is one call on the first `size` records in reverse order, or on all.
func step(t testing.TB, w *worker, size int, all bool) []float64 {
	t.Helper()
	batch := make([]uint32, size)
	for i := range batch {
		batch[i] = uint32(size - 1 - i)
	}
	P := w.p.tape.P
	in := privacy.StepInput{Params: make([]float64, P), Aux: make([]float64, w.p.tape.AuxGlobal), RecordNoise: noise.Insecure(1).Stream(noise.RecordNoise), Step: 5}
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range in.Params {
		in.Params[i] = 0.3 * rng.NormFloat64()
	}
	dst := make([]float64, P+1)
	count, err := w.ClippedSum(dst[:P], in, batch, all, privacy.Clip{Kind: privacy.Flat, Norm: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	dst[P] = count
	return dst
}

// A table on the host, sent in parts, gives the same bits as one on the device.
func TestPartsDoNotMatter(t *testing.T) {
	const N = 5000
	tape, rows := regression(t, 6, N)
	near, err := open(t, 0, tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	p := near.p
	far, err := open(t, p.leastMemory(int64(4*rows.Stride)), tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !near.table.resident || far.table.resident || far.part.records > N/4 {
		t.Fatalf("resident %v and %v, parts of %d", near.table.resident, far.table.resident, far.part.records)
	}
	for _, size := range []int{1, 300, 1025, 4999} {
		same(t, step(t, near, size, false), step(t, far, size, false))
	}
	same(t, step(t, near, 0, true), step(t, far, 0, true))
}

func same(t *testing.T, x, y []float64) {
	t.Helper()
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) && !(math.IsNaN(x[i]) && math.IsNaN(y[i])) {
			t.Fatalf("number %d is %x and %x", i, x[i], y[i])
		}
	}
}

// Too little memory is an error that states the needs of the model, without the size of
// the table; the memory is freed (newOneThread).
func TestOutOfMemory(t *testing.T) {
	message := ""
	for _, N := range []int{100, 40000} {
		tape, rows := regression(t, 6, N)
		_, err := open(t, 64<<10, tape, rows)
		if !errors.Is(err, errNoMemory) || !strings.Contains(err.Error(), "cuda:7: 1 MB may be used, and this model of 8 parameters needs ") {
			t.Fatalf("%v", err)
		}
		if message != "" && err.Error() != message {
			t.Errorf("%v depends on the table: %s", err, message)
		}
		message = err.Error()
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	if stattest.Race {
		t.Skip("under the race detector calls of a library allocate")
	}
	tape, rows := regression(t, 6, 3000)
	w, err := open(t, 0, tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	batch := []uint32{1, 2, 3, 500, 2999}
	in := privacy.StepInput{Params: make([]float64, tape.P), RecordNoise: noise.Insecure(1).Stream(noise.RecordNoise)}
	dst := make([]float64, tape.P)
	run := func() {
		if _, err := w.ClippedSum(dst, in, batch, false, privacy.Clip{Kind: privacy.Flat, Norm: 1}); err != nil {
			t.Error(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(50, run); n != 0 {
		t.Errorf("%g allocations per step", n)
	}
}

// The processes of a machine take its devices in turn.
func TestProcessesTakeTurns(t *testing.T) {
	for _, c := range []struct{ n, turn, count, want int }{
		{0, 0, 4, 0}, {0, 3, 4, 3}, {0, 5, 4, 1}, {0, 2, 1, 0}, {2, 0, 4, 2}, {7, 0, 4, 7}, {1, 3, 0, 1},
	} {
		if got := (Options{Turn: c.turn}).device(c.n, c.count); got != c.want {
			t.Errorf("process %d of a machine with %d devices takes device %d, want %d", c.turn, c.count, got, c.want)
		}
	}
}
