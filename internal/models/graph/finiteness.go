package graph

import "slices"

// bounded reports whether the elements of x are finite if no sum or product of finite
// numbers overflows. 0 times such an element is 0, so a Relu, Min or Max of it needs no
// guard where it is flat. Columns, noise and parameters are finite.
func (r *reverse) bounded(x *Node) bool {
	known, seen := r.finite[x]
	if seen {
		return known
	}
	switch x.op {
	case OpSqrt:
		known = r.sign(x.args[0]) >= 0
	case OpReciprocal:
		known = r.sign(x.args[0]) > 0
	default:
		known = x.op.has(finite)
	}
	if x.op == OpConst {
		for _, v := range x.attr.values {
			known = known && v-v == 0
		}
	}
	for _, a := range x.args {
		known = known && r.bounded(a)
	}
	r.finite[x] = known
	return known
}

// sign is 1 if all elements of x are provably positive, 0 if none can be negative,
// else -1.
func (r *reverse) sign(x *Node) int {
	switch x.op {
	case OpConst:
		least := slices.Min(x.attr.values)
		switch {
		case least > 0:
			return 1
		case least == 0:
			return 0
		}
	case OpSquare, OpAbs, OpRelu, OpSigmoid, OpSoftplus:
		return 0
	case OpAdd:
		if s, t := r.sign(x.args[0]), r.sign(x.args[1]); min(s, t) >= 0 {
			return max(s, t)
		}
	case OpMul:
		return min(r.sign(x.args[0]), r.sign(x.args[1]))
	case OpSqrt, OpSum, OpView:
		return r.sign(x.args[0])
	}
	return -1
}
