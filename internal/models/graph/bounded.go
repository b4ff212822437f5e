package graph

// bounded says whether the elements of x are finite as long as no sum or
// product of finite numbers overflows: 0 times such an element is 0, so that
// where a Relu, Min or Max is flat nothing guards against it. Columns, noise and
// parameters are finite.
func (r *reverse) bounded(x *Node) bool {
	known, seen := r.finite[x]
	if seen {
		return known
	}
	known = keepsFinite(x.op)
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

// keepsFinite says whether an op makes finite elements, but for overflow, of
// finite ones.
func keepsFinite(op Op) bool {
	switch op {
	case OpConst, OpParam, OpAux, OpColumn,
		OpAdd, OpSub, OpMul, OpMulZero, OpMin, OpMax, OpLess, OpEqual, OpWhere,
		OpCopy, OpNeg, OpSquare, OpAbs, OpSign, OpSigmoid, OpLogSigmoid, OpSoftplus, OpTanh, OpRelu, OpGelu,
		OpErf, OpNormalCDF, OpFloor, OpSin, OpCos, OpAtan,
		OpView, OpStop, OpStack, OpSum, OpMaxReduce, OpMatVec, OpOuter:
		return true
	}
	return false
}
