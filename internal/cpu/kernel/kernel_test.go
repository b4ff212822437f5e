package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
)

// arguments are lengths that are no multiple of anything, and every special value.
func arguments(n int, scale float64) []float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	x := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, -1e-300, 1e300, -1e300, 709, -745, 0.5, -0.5}
	for len(x) < n {
		x = append(x, scale*rng.NormFloat64())
	}
	return x[:n]
}

// close is equality up to ulps units in the last place, NaN equal to NaN.
func close(got, want, ulps float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= ulps*0x1p-52*math.Max(math.Abs(want), 0x1p-1000)
}

func TestUnary(t *testing.T) {
	unused := make([]float64, Block)
	for _, k := range []struct {
		op   graph.Op
		loop func(dst, a []float64)
		ulps float64
	}{
		{graph.OpNeg, Neg, 0},
		{graph.OpSquare, Square, 0},
		{graph.OpReciprocal, Reciprocal, 0},
		{graph.OpSqrt, Sqrt, 0},
		{graph.OpRelu, Relu, 0},
		{graph.OpSigmoid, func(dst, a []float64) { Sigmoid(dst, a, unused) }, 6},
		{graph.OpSoftplus, func(dst, a []float64) { Softplus(dst, a, unused) }, 6},
		{graph.OpTanh, Tanh, 4},
	} {
		for _, n := range []int{0, 1, 7, 15, 127, 128, 300, 1013} {
			a := arguments(n, 8)
			dst := make([]float64, n)
			k.loop(dst, a)
			for i := range dst {
				if want := k.op.Eval(a[i], 0, 0); !close(dst[i], want, k.ulps) {
					t.Errorf("%v(%g) = %g, want %g", k.op, a[i], dst[i], want)
				}
			}
		}
	}
}

func TestBinary(t *testing.T) {
	const s = 1.7
	for _, k := range []struct {
		name string
		op   graph.Op
		loop func(dst, a, b []float64)
		a, b bool // is the scalar
	}{
		{"AddVV", graph.OpAdd, AddVV, false, false},
		{"SubVV", graph.OpSub, SubVV, false, false},
		{"MulVV", graph.OpMul, MulVV, false, false},
		{"DivVV", graph.OpDiv, DivVV, false, false},
		{"AddVS", graph.OpAdd, func(d, a, _ []float64) { AddVS(d, a, s) }, false, true},
		{"SubVS", graph.OpSub, func(d, a, _ []float64) { SubVS(d, a, s) }, false, true},
		{"MulVS", graph.OpMul, func(d, a, _ []float64) { MulVS(d, a, s) }, false, true},
		{"DivVS", graph.OpDiv, func(d, a, _ []float64) { DivVS(d, a, s) }, false, true},
		{"SubSV", graph.OpSub, func(d, _, b []float64) { SubSV(d, s, b) }, true, false},
		{"DivSV", graph.OpDiv, func(d, _, b []float64) { DivSV(d, s, b) }, true, false},
	} {
		a, b := arguments(100, 3), arguments(100, 5)
		dst := make([]float64, 100)
		k.loop(dst, a, b)
		for i := range dst {
			x, y := a[i], b[i]
			if k.a {
				x = s
			}
			if k.b {
				y = s
			}
			if want := k.op.Eval(x, y, 0); !close(dst[i], want, 0) {
				t.Errorf("%s(%g, %g) = %g, want %g", k.name, x, y, dst[i], want)
			}
		}
	}
	a, b, c := arguments(50, 1), arguments(50, 2), arguments(50, 3)
	dst := make([]float64, 50)
	Where(dst, a, b, c)
	for i := range dst {
		if want := graph.OpWhere.Eval(a[i], b[i], c[i]); !close(dst[i], want, 0) {
			t.Errorf("Where(%g, %g, %g) = %g, want %g", a[i], b[i], c[i], dst[i], want)
		}
	}
}

// Reductions and accumulations against sums in order; whole numbers make every
// order exact.
func TestReductions(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 5, 8, 17, 100} {
		a, b, row := make([]float64, n), make([]float64, n), make([]float32, n)
		for i := range a {
			a[i], b[i], row[i] = float64(i%7-3), float64(i%5+1), float32(i%3-1)
		}
		var sum, dot, rowDot float64
		for i := range a {
			sum += a[i]
			dot += a[i] * b[i]
			rowDot += a[i] * float64(row[i])
		}
		if got := Sum(a); got != sum {
			t.Errorf("Sum of %d = %g, want %g", n, got, sum)
		}
		if got := Dot(a, b); got != dot {
			t.Errorf("Dot of %d = %g, want %g", n, got, dot)
		}
		if got := RowDot(a, row); got != rowDot {
			t.Errorf("RowDot of %d = %g, want %g", n, got, rowDot)
		}
		into := func(add func(dst []float64), want func(i int) float64) {
			t.Helper()
			dst := append([]float64(nil), b...)
			add(dst)
			for i := range dst {
				if dst[i] != want(i) {
					t.Errorf("n = %d: [%d] = %g, want %g", n, i, dst[i], want(i))
				}
			}
		}
		into(func(d []float64) { AddTo(d, a) }, func(i int) float64 { return b[i] + a[i] })
		into(func(d []float64) { AddProductTo(d, a, b) }, func(i int) float64 { return b[i] + a[i]*b[i] })
		into(func(d []float64) { AddSquareTo(d, a) }, func(i int) float64 { return b[i] + a[i]*a[i] })
		into(func(d []float64) { MaxTo(d, a) }, func(i int) float64 { return max(a[i], b[i]) })
		into(func(d []float64) { Axpy(d, 3, a) }, func(i int) float64 { return b[i] + 3*a[i] })
		into(func(d []float64) { RowAxpy(d, 3, row) }, func(i int) float64 { return b[i] + 3*float64(row[i]) })
		into(func(d []float64) { Axpy4(d, &[4]float64{1, 2, 3, 4}, a, a, b, b) }, func(i int) float64 { return b[i] + 3*a[i] + 7*b[i] })
		into(func(d []float64) { Fill(d, 9) }, func(int) float64 { return 9 })
	}
}

func TestColumn(t *testing.T) {
	rows := []float32{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}
	dst := make([]float64, 2)
	if Column(dst, rows, 3, 1, 2, nil); dst[0] != 21 || dst[1] != 31 {
		t.Errorf("column 1 of records 2 and 3 is %g", dst)
	}
	if Column(dst, rows, 3, 2, 0, []uint32{3, 0}); dst[0] != 32 || dst[1] != 2 {
		t.Errorf("column 2 of records 3 and 0 is %g", dst)
	}
}
