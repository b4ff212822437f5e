package cpu

import (
	"d3p/internal/cpu/kernel"
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// apply runs one element-wise operation over the lanes of dst. Operations that
// are rare or slow by nature, and rare mixes of scalars and lanes, use the
// tape's own scalar definition.
func apply(op graph.Op, dst []float64, a, b, c operand) {
	switch {
	case op.Arity() == 1 && !a.scalar:
		if unary(op, dst, a.v) {
			return
		}
	case op.Arity() == 2 && !(a.scalar && b.scalar):
		if binary(op, dst, a, b) {
			return
		}
	case op == graph.OpWhere && !a.scalar && !b.scalar && !c.scalar:
		kernel.Where(dst, a.v, b.v, c.v)
		return
	}
	evaluate(op, dst, a, b, c)
}

// unary runs the loop of a one-operand operation, and reports whether there is
// one.
func unary(op graph.Op, dst, a []float64) bool {
	switch op {
	case graph.OpCopy:
		copy(dst, a)
	case graph.OpNeg:
		simd.Neg(dst, a)
	case graph.OpSquare:
		simd.Square(dst, a)
	case graph.OpReciprocal:
		simd.Reciprocal(dst, a)
	case graph.OpSqrt:
		simd.Sqrt(dst, a)
	case graph.OpRelu:
		kernel.Relu(dst, a)
	case graph.OpExp:
		simd.Exp(dst, a)
	case graph.OpLog:
		simd.Log(dst, a)
	case graph.OpSigmoid:
		simd.Sigmoid(dst, a)
	case graph.OpSoftplus:
		simd.Softplus(dst, a)
	case graph.OpTanh:
		kernel.Tanh(dst, a)
	default:
		return false
	}
	return true
}

// binary runs the loop of a two-operand operation of which at most one operand
// is a scalar, and reports whether there is one.
func binary(op graph.Op, dst []float64, a, b operand) bool {
	switch op {
	case graph.OpAdd:
		switch {
		case a.scalar:
			simd.AddScalar(dst, b.v, a.s)
		case b.scalar:
			simd.AddScalar(dst, a.v, b.s)
		default:
			simd.Add(dst, a.v, b.v)
		}
	case graph.OpSub:
		switch {
		case a.scalar:
			simd.FromScalar(dst, a.s, b.v)
		case b.scalar:
			simd.AddScalar(dst, a.v, -b.s)
		default:
			simd.Sub(dst, a.v, b.v)
		}
	case graph.OpMul:
		switch {
		case a.scalar:
			simd.MulScalar(dst, b.v, a.s)
		case b.scalar:
			simd.MulScalar(dst, a.v, b.s)
		default:
			simd.Mul(dst, a.v, b.v)
		}
	case graph.OpDiv:
		switch {
		case a.scalar:
			simd.OverScalar(dst, a.s, b.v)
		case b.scalar:
			simd.DivScalar(dst, a.v, b.s)
		default:
			simd.Div(dst, a.v, b.v)
		}
	default:
		return false
	}
	return true
}

// evaluate uses the scalar definition of the operation.
func evaluate(op graph.Op, dst []float64, a, b, c operand) {
	for i := range dst {
		dst[i] = op.Eval(a.at(i), b.at(i), c.at(i))
	}
}

// at is the operand's value in lane i; an absent operand is 0.
func (o *operand) at(i int) float64 {
	if o.v == nil {
		return o.s
	}
	return o.v[i]
}
