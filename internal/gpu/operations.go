package gpu

import "d3p/internal/models/graph"

// Operations as kernel/operations.h numbers them; rowMatVec is a MatVec whose
// second operand is read from the table in place.
const (
	opMatVec = int32(41 + iota)
	opRowMatVec
)

// codes numbers the operations of a tape in the order of enum Op in
// kernel/operations.h.
var codes = map[graph.Op]int32{
	graph.OpAdd: 0, graph.OpSub: 1, graph.OpMul: 2, graph.OpMulZero: 3, graph.OpDiv: 4, graph.OpPow: 5,
	graph.OpMin: 6, graph.OpMax: 7, graph.OpLess: 8, graph.OpEqual: 9,
	graph.OpCopy: 10, graph.OpNeg: 11, graph.OpExp: 12, graph.OpLog: 13, graph.OpLog1p: 14, graph.OpExpm1: 15,
	graph.OpSqrt: 16, graph.OpSquare: 17, graph.OpAbs: 18, graph.OpSign: 19, graph.OpReciprocal: 20,
	graph.OpSigmoid: 21, graph.OpLogSigmoid: 22, graph.OpSoftplus: 23, graph.OpTanh: 24, graph.OpRelu: 25,
	graph.OpGelu: 26, graph.OpLgamma: 27, graph.OpDigamma: 28, graph.OpTrigamma: 29,
	graph.OpErf: 30, graph.OpNormalCDF: 31, graph.OpLogNormalCDF: 32, graph.OpFloor: 33,
	graph.OpSin: 34, graph.OpCos: 35, graph.OpAtan: 36,
	graph.OpWhere: 37,
	graph.OpPut:   38, graph.OpSum: 39, graph.OpMaxReduce: 40,
	graph.OpMatVec: opMatVec,
	graph.OpOuter:  43, graph.OpGather: 44, graph.OpScatter: 45,
	graph.OpLogGammaP: 46, graph.OpLogGammaQ: 47, graph.OpLogGammaPShape: 48, graph.OpLogGammaQShape: 49,
	graph.OpLogBetaI: 50, graph.OpLogBetaIFirst: 51, graph.OpLogBetaISecond: 52,
}
