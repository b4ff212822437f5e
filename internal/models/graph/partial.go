package graph

import "math"

// partial is the derivative of the element-wise node n with respect to its argument i,
// element by element: n's shape or a scalar; nil means zero. Formulas use n itself if that
// is cheaper or safer than its argument.
func (b *Builder) partial(n *Node, i int) *Node {
	switch len(n.args) {
	case 1:
		return b.derivative(n, n.args[0])
	case 2:
		return b.partialOfTwo(n, i)
	}
	x, one, zero := n.args[0], b.Const(1), b.Const(0)
	switch n.op {
	case OpWhere:
		return [...]*Node{nil, b.Where(x, one, zero), b.Where(x, zero, one)}[i]
	case OpLogBetaI:
		return b.incompletePartial(n, i)
	}
	return b.fail("gradient", "%v has no derivative", n.op)
}

// partialOfTwo is partial for two arguments.
func (b *Builder) partialOfTwo(n *Node, i int) *Node {
	x, y, one := n.args[0], n.args[1], b.Const(1)
	switch n.op {
	case OpAdd:
		return one
	case OpSub:
		return [...]*Node{one, b.Const(-1)}[i]
	case OpMul:
		return n.args[1-i]
	case OpDiv:
		r := b.Reciprocal(y)
		if i == 0 {
			return r
		}
		return b.Neg(b.Mul(n, r))
	case OpPow:
		if i == 0 {
			return b.Mul(y, b.Pow(x, b.Sub(y, one)))
		}
		return b.elementwise(OpMulZero, n, b.Log(x)) // 0 at x = 0
	case OpMin, OpMax:
		first := b.Sub(one, b.Less(y, x))
		if n.op == OpMax {
			first = b.Sub(one, b.Less(x, y))
		}
		return [...]*Node{first, b.Sub(one, first)}[i]
	case OpLess, OpEqual:
		return nil
	case OpLogGammaP, OpLogGammaQ:
		return b.incompletePartial(n, i)
	}
	return b.fail("gradient", "%v has no derivative", n.op)
}

// derivative is partial for one argument, x.
func (b *Builder) derivative(n, x *Node) *Node {
	one := b.Const(1)
	switch n.op {
	case OpNeg:
		return b.Const(-1)
	case OpExp:
		return n
	case OpLog:
		return b.Reciprocal(x)
	case OpLog1p:
		return b.Reciprocal(b.Add(one, x))
	case OpExpm1:
		return b.Add(n, one)
	case OpSqrt:
		return b.Mul(b.Const(0.5), b.Reciprocal(n))
	case OpSquare:
		return b.Mul(b.Const(2), x)
	case OpAbs:
		return b.Sign(x)
	case OpReciprocal:
		return b.Neg(b.Square(n))
	case OpSigmoid:
		return b.Mul(n, b.Sub(one, n))
	case OpLogSigmoid:
		return b.Sigmoid(b.Neg(x))
	case OpSoftplus:
		return b.Sigmoid(x)
	case OpTanh:
		return b.Sub(one, b.Square(n))
	case OpRelu:
		return b.Less(b.Const(0), x)
	case OpGelu:
		return b.Add(b.NormalCDF(x), b.Mul(x, b.normalDensity(x)))
	case OpLgamma:
		return b.Digamma(x)
	case OpDigamma:
		return b.elementwise(OpTrigamma, x)
	case OpErf:
		return b.Mul(b.Const(2/math.Sqrt(math.Pi)), b.Exp(b.Neg(b.Square(x))))
	case OpNormalCDF:
		return b.normalDensity(x)
	case OpLogNormalCDF:
		// φ/Φ, whose logarithm neither overflows nor underflows.
		return b.Exp(b.Sub(b.logNormalDensity(x), n))
	case OpSin:
		return b.Cos(x)
	case OpCos:
		return b.Neg(b.Sin(x))
	case OpAtan:
		return b.Reciprocal(b.Add(one, b.Square(x)))
	case OpSign, OpFloor:
		return nil
	}
	return b.fail("gradient", "%v has no derivative", n.op)
}

// isMask reports whether the partial derivatives of an op are 0 or 1. Such an op chooses
// between branches, and the content of the other branch must not matter.
func isMask(op Op) bool { return op == OpWhere || op == OpMin || op == OpMax || op == OpRelu }

func (b *Builder) normalDensity(x *Node) *Node { return b.Exp(b.logNormalDensity(x)) }

func (b *Builder) logNormalDensity(x *Node) *Node {
	return b.Sub(b.Mul(b.Const(-0.5), b.Square(x)), b.Const(0.5*math.Log(2*math.Pi)))
}

// incompletePartial is the partial derivative of an incomplete gamma or beta function: the
// ratio of its density to itself, by logarithms, or a separate operation.
func (b *Builder) incompletePartial(n *Node, i int) *Node {
	x, y := n.args[0], n.args[1]
	if n.op == OpLogBetaI {
		z := n.args[2]
		if i > 0 {
			return b.elementwise([...]Op{OpLogBetaIFirst, OpLogBetaISecond}[i-1], x, y, z)
		}
		logBeta := b.Sub(b.Add(b.Lgamma(y), b.Lgamma(z)), b.Lgamma(b.Add(y, z)))
		density := b.Sub(b.Add(b.Mul(y, b.LogSigmoid(x)), b.Mul(z, b.LogSigmoid(b.Neg(x)))), logBeta)
		return b.Exp(b.Sub(density, n))
	}
	if i == 0 {
		if n.op == OpLogGammaP {
			return b.elementwise(OpLogGammaPShape, x, y)
		}
		return b.elementwise(OpLogGammaQShape, x, y)
	}
	density := b.Sub(b.Sub(b.Mul(b.Sub(x, b.Const(1)), b.Log(y)), y), b.Lgamma(x))
	ratio := b.Exp(b.Sub(density, n))
	if n.op == OpLogGammaQ {
		return b.Neg(ratio)
	}
	return ratio
}
