package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// Every vector function computes what the tape defines, at ordinary values and
// at the ends. Its last digits are a matter of package simd.
func TestUnaryFunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, -1e-300, 1e300, -1e300, 709, -745, 0.5, -0.5, 2, -3}
	for range 1000 {
		x = append(x, 8*rng.NormFloat64(), math.Exp(5*rng.NormFloat64()))
	}
	y := make([]float64, len(x))
	found := 0
	for op := graph.Op(0); op < 255; op++ {
		if op.String() == "none" || op.Arity() != 1 || !apply(op, y, x) {
			continue
		}
		found++
		for i, v := range x {
			want := op.Eval(v, 0, 0)
			size := math.Max(math.Abs(want), 1e-290)           // exp ends at -708
			if op == graph.OpLgamma || op == graph.OpDigamma { // the definition's are coarse near their zeros
				size = math.Max(size, 1)
			}
			if !(math.Abs(y[i]-want) <= 1e-12*size) && y[i] != want && !(math.IsNaN(y[i]) && math.IsNaN(want)) {
				t.Errorf("%v(%g) = %g, want %g", op, v, y[i], want)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d vector functions, want 20 or more", found)
	}
}

// apply runs the vector form of an operation, if it has one.
func apply(op graph.Op, dst, x []float64) bool {
	p := &program{}
	s := step{op: op, count: len(x), a: source{at: len(x)}, b: source{absent: true}, c: source{absent: true}}
	in, ok := s.coded(p)
	if !ok {
		f := vectorFunction(op)
		if f != nil {
			f(dst, x)
		}
		return f != nil
	}
	var spaces [simd.Spaces][]float64
	spaces[inLanes], spaces[inConst] = append(make([]float64, len(x)), x...), p.constants
	simd.NewProgram([]simd.Instruction{in}).Run(&spaces, 1, 1)
	copy(dst, spaces[inLanes])
	return true
}
