package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// coded is the program instruction of a step, if it has one.
func (s *step) coded(p *program) (simd.Instruction, bool) {
	in := simd.Instruction{Count: s.count, To: s.to.place(), A: s.a.place(), B: s.b.place(), C: s.c.place()}
	ok := false
	switch {
	case s.b.absent:
		in.Op, ok = unary(s.op, s.a.scalar)
		if s.op == graph.OpRelu && !s.a.scalar {
			in.Op, in.B, ok = simd.OpMaxScalar, p.constant(0).place(), true
		}
	case !s.c.absent:
		in.Op, ok = simd.OpWhere, s.op == graph.OpWhere && !s.a.scalar && !s.b.scalar && !s.c.scalar
	case !s.a.scalar && !s.b.scalar:
		in.Op, ok = binary(s.op)
	case !s.a.scalar:
		in.Op, ok = withScalar(s.op)
	case !s.b.scalar:
		in.A, in.B = in.B, in.A
		in.Op, ok = scalarWith(s.op)
	}
	return in, ok
}

// unary is the opcode of a function of one vector. The function of a scalar fills lanes.
func unary(op graph.Op, scalar bool) (simd.Opcode, bool) {
	if scalar {
		return simd.OpFill, op == graph.OpCopy
	}
	code, ok := map[graph.Op]simd.Opcode{
		graph.OpCopy: simd.OpCopy, graph.OpNeg: simd.OpNeg, graph.OpSquare: simd.OpSquare,
		graph.OpReciprocal: simd.OpReciprocal, graph.OpSqrt: simd.OpSqrt, graph.OpExp: simd.OpExp,
		graph.OpLog: simd.OpLog, graph.OpSigmoid: simd.OpSigmoid, graph.OpSoftplus: simd.OpSoftplus,
		graph.OpExpm1: simd.OpExpm1, graph.OpLog1p: simd.OpLog1p, graph.OpLogSigmoid: simd.OpLogSigmoid,
		graph.OpTanh: simd.OpTanh, graph.OpErf: simd.OpErf, graph.OpNormalCDF: simd.OpNormalCDF,
		graph.OpLogNormalCDF: simd.OpLogNormalCDF, graph.OpGelu: simd.OpGelu, graph.OpAbs: simd.OpAbs,
	}[op]
	return code, ok
}

// binary is op(vector, vector).
func binary(op graph.Op) (simd.Opcode, bool) {
	code, ok := map[graph.Op]simd.Opcode{
		graph.OpAdd: simd.OpAdd, graph.OpSub: simd.OpSub, graph.OpMul: simd.OpMul, graph.OpDiv: simd.OpDiv,
		graph.OpMax: simd.OpMax, graph.OpMin: simd.OpMin, graph.OpMulZero: simd.OpMulZero, graph.OpLess: simd.OpLess, graph.OpEqual: simd.OpEqual,
	}[op]
	return code, ok
}

// withScalar is op(vector, scalar).
func withScalar(op graph.Op) (simd.Opcode, bool) {
	code, ok := map[graph.Op]simd.Opcode{
		graph.OpAdd: simd.OpAddScalar, graph.OpSub: simd.OpSubScalar, graph.OpMul: simd.OpMulScalar,
		graph.OpDiv: simd.OpDivScalar, graph.OpMax: simd.OpMaxScalar,
		graph.OpLess: simd.OpLessScalar, graph.OpEqual: simd.OpEqualScalar,
	}[op]
	return code, ok
}

// scalarWith is op(scalar, vector), as the opcode that takes the vector first.
func scalarWith(op graph.Op) (simd.Opcode, bool) {
	switch op {
	case graph.OpSub:
		return simd.OpFromScalar, true
	case graph.OpDiv:
		return simd.OpOverScalar, true
	case graph.OpLess:
		return simd.OpAboveScalar, true
	}
	return withScalar(op)
}
