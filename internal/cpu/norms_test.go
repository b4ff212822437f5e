package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// Where terms on the same parameters cancel, the square from inner products is all
// rounding; the released sum must still be no longer than C. Here two terms of size 1e8
// leave a gradient of about 1.
func TestCancellingTermsStayClipped(t *testing.T) {
	const d, n, large = 3, 500, 1e8
	b := graph.NewBuilder()
	dim := graph.Dim{Name: "d", Size: d}
	w := b.Param("w", graph.Shape{dim})
	difference := b.Sub(b.MatMul(b.Columns(0, dim), w), b.MatMul(b.Columns(d, dim), w))
	tape, err := graph.Compile(b, b.Mul(b.Const(large), difference), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(tape.Cross) != 1 {
		t.Fatalf("%d pairs of terms, want 1: the test tests nothing", len(tape.Cross))
	}
	rng := rand.New(rand.NewPCG(4, 2))
	rows := &privacy.Rows{F64: make([]float64, n*2*d), N: n, K: 2 * d, Stride: 2 * d, Valid: make([]bool, n)}
	for i := range n {
		rows.Valid[i] = true
		for j := range d {
			x := rng.NormFloat64()
			rows.F64[i*2*d+j], rows.F64[i*2*d+d+j] = x, x+rng.NormFloat64()/large
		}
	}
	if err := privacy.DeriveColumns(tape, rows, 2*d); err != nil {
		t.Fatal(err)
	}
	worker, err := New(Options{Threads: 1}).Open(tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	const c = 0.1
	sum := make([]float64, d)
	for i := range n {
		_, err := worker.ClippedSum(sum, privacy.StepInput{Params: make([]float64, d)}, []uint32{uint32(i)}, false, privacy.Clip{Kind: privacy.Flat, Norm: c})
		if err != nil {
			t.Fatal(err)
		}
		if l := math.Sqrt(sum[0]*sum[0] + sum[1]*sum[1] + sum[2]*sum[2]); l > c*(1+1e-6) {
			t.Errorf("record %d contributes %g, more than C = %g", i, l, c)
		}
	}
}

// The computed norm of a gradient of many numbers can be too small by half their number
// times u: here every square but the first is lost, being less than half an ulp of the
// sum. The wider noise covers it.
func TestLongGradientsStayWithinTheAllowance(t *testing.T) {
	const d, u = 100_000, 0x1p-53
	b := graph.NewBuilder()
	dim := graph.Dim{Name: "d", Size: d}
	tape, err := graph.Compile(b, b.MatMul(b.Columns(0, dim), b.Param("w", graph.Shape{dim})), nil, graph.Options{GradientOnly: true, Columns: d})
	if err != nil {
		t.Fatal(err)
	}
	rows := &privacy.Rows{F64: make([]float64, d), N: 1, K: d, Stride: d, Valid: []bool{true}}
	x := math.Sqrt(0.99 * u)
	for i := range rows.F64 {
		rows.F64[i] = x
	}
	rows.F64[0] = 1
	if err := privacy.DeriveColumns(tape, rows, d); err != nil {
		t.Fatal(err)
	}
	worker, err := New(Options{Threads: 1}).Open(tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	const c = 0.5
	sum := make([]float64, d)
	clip := privacy.Clip{Kind: privacy.Flat, Norm: c}
	if _, err := worker.ClippedSum(sum, privacy.StepInput{Params: make([]float64, d)}, []uint32{0}, false, clip); err != nil {
		t.Fatal(err)
	}
	rest := 0.0 // |sum|² = sum[0]² + rest, each exact to some ulp
	for _, v := range sum[1:] {
		rest += v * v
	}
	over := (math.FMA(sum[0], sum[0], -c*c) + rest) / (2 * c * c) // |sum|/C - 1
	if most := privacy.RoundingAllowance(1, d); !(over <= most) || over < 0.4*d*u {
		t.Errorf("a clipped gradient is %g of C too long, want about %g and at most %g", over, d*u/2, most)
	}
}
