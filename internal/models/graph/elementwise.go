package graph

// Element-wise operations broadcast by dimension name: the result has the
// first operand's dimensions, then those that only later operands have.

// Add is x + y.
func (b *Builder) Add(x, y *Node) *Node { return b.elementwise(OpAdd, x, y) }

// Sub is x - y.
func (b *Builder) Sub(x, y *Node) *Node { return b.elementwise(OpSub, x, y) }

// Mul is x·y.
func (b *Builder) Mul(x, y *Node) *Node { return b.elementwise(OpMul, x, y) }

// Div is x/y; by a constant or global y it becomes x·(1/y), the reciprocal
// taken once.
func (b *Builder) Div(x, y *Node) *Node { return b.elementwise(OpDiv, x, y) }

// Pow is x raised to y.
func (b *Builder) Pow(x, y *Node) *Node { return b.elementwise(OpPow, x, y) }

// Min is the smaller of x and y; at a tie the gradient goes to x.
func (b *Builder) Min(x, y *Node) *Node { return b.elementwise(OpMin, x, y) }

// Max is the larger of x and y; at a tie the gradient goes to x.
func (b *Builder) Max(x, y *Node) *Node { return b.elementwise(OpMax, x, y) }

// Less is 1 where x < y, else 0; its gradient is 0.
func (b *Builder) Less(x, y *Node) *Node { return b.elementwise(OpLess, x, y) }

// Equal is 1 where x = y, else 0; its gradient is 0.
func (b *Builder) Equal(x, y *Node) *Node { return b.elementwise(OpEqual, x, y) }

// Where is x where cond is not 0, else y. Neither value nor gradient of the other branch
// reaches the result, even if it is infinite or NaN.
func (b *Builder) Where(cond, x, y *Node) *Node { return b.elementwise(OpWhere, cond, x, y) }

// Neg is -x.
func (b *Builder) Neg(x *Node) *Node { return b.elementwise(OpNeg, x) }

// Exp is eˣ.
func (b *Builder) Exp(x *Node) *Node { return b.elementwise(OpExp, x) }

// Log is the natural logarithm.
func (b *Builder) Log(x *Node) *Node { return b.elementwise(OpLog, x) }

// Log1p is log(1+x), accurate near 0.
func (b *Builder) Log1p(x *Node) *Node { return b.elementwise(OpLog1p, x) }

// Expm1 is eˣ-1, accurate near 0.
func (b *Builder) Expm1(x *Node) *Node { return b.elementwise(OpExpm1, x) }

// Sqrt is the square root.
func (b *Builder) Sqrt(x *Node) *Node { return b.elementwise(OpSqrt, x) }

// Square is x².
func (b *Builder) Square(x *Node) *Node { return b.elementwise(OpSquare, x) }

// Abs is |x|; its gradient at 0 is 0.
func (b *Builder) Abs(x *Node) *Node { return b.elementwise(OpAbs, x) }

// Sign is -1, 0 or 1; its gradient is 0.
func (b *Builder) Sign(x *Node) *Node { return b.elementwise(OpSign, x) }

// Reciprocal is 1/x.
func (b *Builder) Reciprocal(x *Node) *Node { return b.elementwise(OpReciprocal, x) }

// Sigmoid is 1/(1+e⁻ˣ).
func (b *Builder) Sigmoid(x *Node) *Node { return b.elementwise(OpSigmoid, x) }

// LogSigmoid is log(1/(1+e⁻ˣ)), accurate in both tails.
func (b *Builder) LogSigmoid(x *Node) *Node { return b.elementwise(OpLogSigmoid, x) }

// Softplus is log(1+eˣ), accurate in both tails.
func (b *Builder) Softplus(x *Node) *Node { return b.elementwise(OpSoftplus, x) }

// Tanh is the hyperbolic tangent.
func (b *Builder) Tanh(x *Node) *Node { return b.elementwise(OpTanh, x) }

// Relu is max(x, 0); its gradient at 0 is 0.
func (b *Builder) Relu(x *Node) *Node { return b.elementwise(OpRelu, x) }

// Gelu is x·Φ(x), Hendrycks and Gimpel, arXiv:1606.08415 (the exact form).
func (b *Builder) Gelu(x *Node) *Node { return b.elementwise(OpGelu, x) }

// Lgamma is log|Γ(x)|.
func (b *Builder) Lgamma(x *Node) *Node { return b.elementwise(OpLgamma, x) }

// Digamma is d/dx log Γ(x).
func (b *Builder) Digamma(x *Node) *Node { return b.elementwise(OpDigamma, x) }

// Erf is the error function.
func (b *Builder) Erf(x *Node) *Node { return b.elementwise(OpErf, x) }

// NormalCDF is Φ(x).
func (b *Builder) NormalCDF(x *Node) *Node { return b.elementwise(OpNormalCDF, x) }

// LogNormalCDF is log Φ(x), accurate in both tails.
func (b *Builder) LogNormalCDF(x *Node) *Node { return b.elementwise(OpLogNormalCDF, x) }

// LogGammaP is log P(a, x), the log of the regularised lower incomplete gamma
// function; 0 for a <= 0.
func (b *Builder) LogGammaP(a, x *Node) *Node { return b.elementwise(OpLogGammaP, a, x) }

// LogGammaQ is log Q(a, x), the log of the regularised upper incomplete gamma
// function; -Inf for a <= 0.
func (b *Builder) LogGammaQ(a, x *Node) *Node { return b.elementwise(OpLogGammaQ, a, x) }

// LogBetaI is the log of the regularised incomplete beta function I(p, q) at
// the probability whose logit is u, accurate on both sides; 0 for p <= 0,
// -Inf for q <= 0. Its complement is LogBetaI(-u, q, p).
func (b *Builder) LogBetaI(u, p, q *Node) *Node { return b.elementwise(OpLogBetaI, u, p, q) }

// StopGradient is x, through which no gradient flows.
func (b *Builder) StopGradient(x *Node) *Node { return b.elementwise(OpStop, x) }

// Floor is the largest integer not above x; its gradient is 0.
func (b *Builder) Floor(x *Node) *Node { return b.elementwise(OpFloor, x) }

// Sin is the sine.
func (b *Builder) Sin(x *Node) *Node { return b.elementwise(OpSin, x) }

// Cos is the cosine.
func (b *Builder) Cos(x *Node) *Node { return b.elementwise(OpCos, x) }

// Atan is the inverse tangent.
func (b *Builder) Atan(x *Node) *Node { return b.elementwise(OpAtan, x) }

// AddAll is the sum of any number of nodes, 0 for none.
func (b *Builder) AddAll(xs ...*Node) *Node {
	s := b.Const(0)
	for _, x := range xs {
		s = b.Add(s, x)
	}
	return s
}

// elementwise broadcasts, simplifies and interns.
func (b *Builder) elementwise(op Op, args ...*Node) *Node {
	if anyBad(args...) {
		return b.poison
	}
	shape, ok := b.broadcast(op, args)
	if !ok {
		return b.poison
	}
	args = append([]*Node(nil), args...)
	for i, a := range args {
		if a.size > 1 {
			args[i] = b.Expand(a, shape)
		}
	}
	if n := b.simplify(op, shape, args); n != nil {
		return b.Expand(n, shape)
	}
	if n := b.beforeViews(op, shape, args); n != nil {
		return n
	}
	stage := StageConst
	for _, a := range args {
		stage = stage.Join(a.stage)
	}
	return b.intern(op, shape, stage, args, attr{})
}

// broadcast is the common shape of args.
func (b *Builder) broadcast(op Op, args []*Node) (Shape, bool) {
	shape := args[0].shape
	for _, a := range args[1:] {
		for _, d := range a.shape {
			switch i := shape.Index(d.Name); {
			case i < 0:
				shape = append(shape[:len(shape):len(shape)], d)
			case shape[i].Size != d.Size:
				b.fail(op.String(), "dimension %s has size %d in %v but %d in %v",
					d.Name, shape[i].Size, args[0].shape, d.Size, a.shape)
				return nil, false
			}
		}
	}
	return shape, true
}
