package graph

// simplify returns an equal, cheaper node, or nil. It folds constants and
// removes neutral elements; 0·x is 0, whatever x is.
func (b *Builder) simplify(op Op, shape Shape, args []*Node) *Node {
	if n := b.fold(op, shape, args); n != nil {
		return n
	}
	x := args[0]
	switch len(args) {
	case 1:
		return b.simplifyOne(op, x)
	case 3:
		if op == OpWhere {
			return simplifyWhere(x, args[1], args[2])
		}
		return nil
	}
	y := args[1]
	switch op {
	case OpAdd:
		if n := b.simplifySum(x, y); n != nil {
			return n
		}
		order(args)
	case OpSub:
		return b.simplifyDifference(x, y)
	case OpMul:
		if n := b.simplifyProduct(x, y); n != nil {
			return n
		}
		order(args)
	case OpMulZero:
		switch {
		case x.is(0), y.is(1):
			return x
		case x.is(1):
			return y
		case y.is(-1):
			return b.elementwise(OpNeg, x)
		}
	case OpDiv:
		return b.simplifyQuotient(x, y)
	case OpPow:
		return b.simplifyPower(x, y)
	case OpMin, OpMax:
		if x == y {
			return x
		}
	}
	return nil
}

// simplifyQuotient is x/y as another operation; nil if no other one equals it.
func (b *Builder) simplifyQuotient(x, y *Node) *Node {
	switch {
	case x.is(1):
		return b.elementwise(OpReciprocal, y)
	case y.is(1):
		return x
	case y.stage&^StageGlobal == 0:
		return b.elementwise(OpMul, x, b.elementwise(OpReciprocal, y))
	}
	return nil
}

// simplifyPower is x^y as another operation; nil if no other one equals it.
func (b *Builder) simplifyPower(x, y *Node) *Node {
	switch {
	case y.is(1):
		return x
	case y.is(2):
		return b.elementwise(OpSquare, x)
	case y.is(0.5):
		return b.elementwise(OpSqrt, x)
	case y.is(-1):
		return b.elementwise(OpReciprocal, x)
	}
	return nil
}

// simplifyOne is simplify of a function of one argument.
func (b *Builder) simplifyOne(op Op, x *Node) *Node {
	switch {
	case op == OpNeg && x.op == OpNeg, op == OpLog && x.op == OpExp:
		return x.args[0]
	case op == OpNeg && x.op == OpSub:
		return b.elementwise(OpSub, x.args[1], x.args[0])
	case op == OpNeg:
		return b.absorb(b.Const(-1), x)
	case op == OpStop && (x.op == OpStop || x.stage == StageData):
		return x
	}
	return nil
}

// simplifySum is simplify of x + y.
func (b *Builder) simplifySum(x, y *Node) *Node {
	switch {
	case x.is(0):
		return y
	case y.is(0):
		return x
	case y.op == OpNeg:
		return b.elementwise(OpSub, x, y.args[0])
	case x.op == OpNeg:
		return b.elementwise(OpSub, y, x.args[0])
	}
	return b.reassociateSum(x, y)
}

// simplifyDifference is simplify of x - y.
func (b *Builder) simplifyDifference(x, y *Node) *Node {
	switch {
	case y.is(0):
		return x
	case x.is(0):
		return b.elementwise(OpNeg, y)
	case y.op == OpNeg:
		return b.elementwise(OpAdd, x, y.args[0])
	}
	if h, z, ok := x.parts(OpAdd); ok && y.rank() < z.rank() {
		return b.elementwise(OpAdd, b.elementwise(OpSub, h, y), z) // (h + z) - y
	}
	return nil
}

// simplifyProduct is simplify of x · y.
func (b *Builder) simplifyProduct(x, y *Node) *Node {
	switch {
	case x.is(0), y.is(1):
		return x
	case y.is(0), x.is(1):
		return y
	case x.is(-1):
		return b.elementwise(OpNeg, y)
	case y.is(-1):
		return b.elementwise(OpNeg, x)
	case x == y:
		return b.elementwise(OpSquare, x)
	case x.op == OpNeg && x.size >= y.size && x.rank() >= y.rank():
		return b.elementwise(OpNeg, b.elementwise(OpMul, x.args[0], y))
	case y.op == OpNeg && y.size >= x.size && y.rank() >= x.rank():
		return b.elementwise(OpNeg, b.elementwise(OpMul, x, y.args[0]))
	}
	return b.reassociateProduct(x, y)
}

// simplifyWhere is simplify of `where(cond, x, y)`.
func simplifyWhere(cond, x, y *Node) *Node {
	switch {
	case cond.is(0):
		return y
	case cond.op == OpConst && cond.size == 1, x == y:
		return x
	}
	return nil
}

// order puts the operands of a commutative op into one order.
func order(args []*Node) {
	if args[0].id > args[1].id {
		args[0], args[1] = args[1], args[0]
	}
}

// fold evaluates an element-wise op whose operands are all constant.
func (b *Builder) fold(op Op, shape Shape, args []*Node) *Node {
	for _, a := range args {
		if a.op != OpConst {
			return nil
		}
	}
	if op == OpStop {
		return args[0]
	}
	at := func(k, i int) float64 {
		if k >= len(args) {
			return 0
		}
		v := args[k].attr.values
		if len(v) == 1 {
			return v[0]
		}
		return v[i]
	}
	v := make([]float64, shape.Size())
	for i := range v {
		v[i] = op.Eval(at(0, i), at(1, i), at(2, i))
	}
	return b.intern(OpConst, shape, StageConst, nil, attr{values: v})
}

// foldNode evaluates a node of constants that is not element-wise.
func (b *Builder) foldNode(n *Node) *Node {
	for _, a := range n.args {
		if a.op != OpConst {
			return n
		}
	}
	if len(n.args) == 0 {
		return n
	}
	v := make([]float64, n.size)
	in := Instr{Op: n.op, Into: n.attr.index, Rows: n.attr.rows, Cols: n.attr.cols, Width: n.attr.width, Trans: n.attr.trans}
	var args [3]lanes
	for i, a := range n.args {
		args[i] = lanes{values: a.attr.values, size: a.size, element: 1}
	}
	in.run(v, &args, 1)
	return b.intern(OpConst, n.shape, StageConst, nil, attr{values: v})
}
