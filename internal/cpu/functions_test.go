package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// Every vector function computes what the tape defines, at ordinary values and at the
// ends. Package simd tests its last digits.
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
	simd.NewProgram([]simd.Instruction{in}).Run(&spaces, 1)
	copy(dst, spaces[inLanes])
	return true
}

// Every operation of two values that a program has computes what the tape
// defines, whichever of them is a scalar; the choice of three likewise.
func TestBinaryOperations(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2.5, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e-300}
	var x, y []float64
	for _, a := range special {
		for _, b := range special {
			x, y = append(x, a), append(y, b)
		}
	}
	n, found := len(x), 0
	for op := graph.Op(0); op < 255 && (op == 0 || op.String() != "none"); op++ {
		if op.Arity() < 2 {
			continue
		}
		vector := func(i int) source { return source{at: i * n} }
		scalar := source{space: inAux, scalar: true}
		none := source{absent: true}
		for _, s := range []step{
			{op: op, a: vector(1), b: vector(2), c: none},
			{op: op, a: vector(1), b: scalar, c: none},
			{op: op, a: scalar, b: vector(2), c: none},
			{op: op, a: vector(1), b: vector(2), c: vector(1)},
		} {
			if s.c.absent != (op.Arity() == 2) {
				continue
			}
			s.count = n
			in, ok := s.coded(&program{})
			if !ok {
				continue
			}
			found++
			for _, v := range special {
				var spaces [simd.Spaces][]float64
				spaces[inLanes] = slices.Concat(make([]float64, n), x, y)
				spaces[inAux] = []float64{v}
				simd.NewProgram([]simd.Instruction{in}).Run(&spaces, 1)
				for i, got := range spaces[inLanes][:n] {
					a, b := x[i], y[i]
					if s.a.scalar {
						a = v
					}
					if s.b.scalar {
						b = v
					}
					if want := op.Eval(a, b, x[i]); got != want && !(math.IsNaN(got) && math.IsNaN(want+a+b)) { // NaN wins over what is infinite
						t.Fatalf("%v(%g, %g) = %g, want %g", op, a, b, got, want)
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d operations, want 20 or more", found)
	}
}

// scalarOnly are the ops of one argument that the CPU engine evaluates one
// value at a time: rare ones.
var scalarOnly = map[graph.Op]bool{graph.OpSign: true, graph.OpTrigamma: true, graph.OpFloor: true,
	graph.OpSin: true, graph.OpCos: true, graph.OpAtan: true}

// Every op of one argument has a vector function, or is listed as one that has none.
func TestVectorFunctionsAreListed(t *testing.T) {
	x := []float64{1}
	for op := graph.OpAdd; op <= graph.OpWhere; op++ {
		if op.Arity() == 1 && apply(op, make([]float64, 1), x) == scalarOnly[op] {
			t.Errorf("%v: has a vector function: %v; scalarOnly in functions_test.go: %v", op, scalarOnly[op], scalarOnly[op])
		}
	}
}
