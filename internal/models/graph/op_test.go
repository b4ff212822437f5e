package graph

import (
	"math"
	"testing"
)

// The scalar forms of operations at the ends of their ranges.
func TestScalarForms(t *testing.T) {
	for _, f := range []struct {
		op   Op
		x    float64
		want float64
	}{
		{OpSigmoid, -800, 0}, {OpSigmoid, 800, 1}, {OpSigmoid, 0, 0.5},
		{OpSoftplus, -800, 0}, {OpSoftplus, 800, 800}, {OpSoftplus, math.Inf(-1), 0},
		{OpLogSigmoid, -800, -800}, {OpLogSigmoid, 800, 0},
		{OpLogNormalCDF, math.Inf(-1), math.Inf(-1)}, {OpLogNormalCDF, math.Inf(1), 0},
		{OpSign, -2, -1}, {OpSign, 0, 0}, {OpSign, 3, 1},
		{OpDigamma, math.Inf(1), math.Inf(1)},
	} {
		if got := f.op.Eval(f.x, 0, 0); got != f.want {
			t.Errorf("%v(%v) = %v, want %v", f.op, f.x, got, f.want)
		}
	}
	if got := OpMulZero.Eval(0, math.Inf(1), 0); got != 0 {
		t.Errorf("mulzero(0, +Inf) = %v", got)
	}
}

// TestOpTable: every element-wise op has a name, a function of its arity, and
// a derivative or none on purpose.
func TestOpTable(t *testing.T) {
	names := map[string]Op{}
	for op := OpConst; op < NumOps; op++ {
		info := ops[op]
		if info.name == "" {
			t.Errorf("op %d has no name", op)
		}
		if other, ok := names[info.name]; ok {
			t.Errorf("ops %d and %d are both called %s", op, other, info.name)
		}
		names[info.name] = op
		have := [4]bool{0: info.f1 == nil && info.f2 == nil && info.f3 == nil, 1: info.f1 != nil, 2: info.f2 != nil, 3: info.f3 != nil}
		if !have[info.arity] {
			t.Errorf("%v: arity %d without its function", op, info.arity)
		}
		if elementwise := op >= OpAdd && op <= OpWhere; elementwise != (info.arity > 0) {
			t.Errorf("%v: arity %d", op, info.arity)
		}
		if info.arity == 0 {
			continue
		}
		b := NewBuilder()
		args := []*Node{b.Param("x", nil), b.Param("y", nil), b.Param("z", nil)}[:info.arity]
		b.partial(b.intern(op, nil, StageGlobal, args, attr{}), 0)
		if err := b.Err(); (err != nil) != op.has(compiled) {
			t.Errorf("%v: %v", op, err)
		}
	}
}
