package forward

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/onnx"
)

// operator writes an element-wise operation of named arguments.
type operator func(l *lowering, args []string) string

// operators has a row for each operation that ONNX can compute. It lacks the gamma, beta
// and normal functions: forward refuses models whose predictions need these.
var operators = map[graph.Op]operator{
	graph.OpAdd: same("Add"), graph.OpSub: same("Sub"), graph.OpMul: same("Mul"), graph.OpDiv: same("Div"),
	graph.OpPow: same("Pow"), graph.OpMin: same("Min"), graph.OpMax: same("Max"),
	graph.OpLess: truth("Less"), graph.OpEqual: truth("Equal"),

	graph.OpNeg: same("Neg"), graph.OpExp: same("Exp"), graph.OpLog: same("Log"), graph.OpSqrt: same("Sqrt"),
	graph.OpAbs: same("Abs"), graph.OpSign: same("Sign"), graph.OpReciprocal: same("Reciprocal"),
	graph.OpSigmoid: same("Sigmoid"), graph.OpSoftplus: same("Softplus"), graph.OpTanh: same("Tanh"), graph.OpRelu: same("Relu"),
	graph.OpErf: same("Erf"), graph.OpFloor: same("Floor"), graph.OpSin: same("Sin"), graph.OpCos: same("Cos"), graph.OpAtan: same("Atan"),

	graph.OpSquare: func(l *lowering, x []string) string { return l.to.Node("Mul", nil, x[0], x[0]) },
	graph.OpLog1p: func(l *lowering, x []string) string {
		return l.to.Node("Log", nil, l.to.Node("Add", nil, x[0], l.number(1)))
	},
	graph.OpExpm1: func(l *lowering, x []string) string {
		return l.to.Node("Sub", nil, l.to.Node("Exp", nil, x[0]), l.number(1))
	},
	graph.OpLogSigmoid: func(l *lowering, x []string) string {
		return l.to.Node("Neg", nil, l.to.Node("Softplus", nil, l.to.Node("Neg", nil, x[0])))
	},
	graph.OpNormalCDF: func(l *lowering, x []string) string { return l.normal(x[0]) },
	graph.OpGelu:      func(l *lowering, x []string) string { return l.to.Node("Mul", nil, x[0], l.normal(x[0])) },
	graph.OpWhere: func(l *lowering, x []string) string {
		return l.to.Node("Where", nil, l.to.Node("Cast", onnx.Attributes{"to": int(onnx.Bool)}, x[0]), x[1], x[2])
	},
}

// same is an operator that ONNX has.
func same(name string) operator {
	return func(l *lowering, x []string) string { return l.to.Node(name, nil, x...) }
}

// truth is a comparison as 0 or 1.
func truth(name string) operator {
	return func(l *lowering, x []string) string { return l.real(l.to.Node(name, nil, x...)) }
}

// real is a value as float32.
func (l *lowering) real(x string) string {
	return l.to.Node("Cast", onnx.Attributes{"to": int(onnx.Float)}, x)
}

// normal is Φ(x) = (1 + erf(x/√2))/2.
func (l *lowering) normal(x string) string {
	e := l.to.Node("Erf", nil, l.to.Node("Mul", nil, x, l.number(math.Sqrt2/2)))
	return l.to.Node("Mul", nil, l.to.Node("Add", nil, e, l.number(1)), l.number(0.5))
}
