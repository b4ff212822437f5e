package graph

import (
	"math"

	"d3p/internal/models/special"
)

// An Op is an operation of a node and of a tape instruction.
type Op uint8

// Operations. The element-wise ones come between OpAdd and OpWhere; ops
// describes each.
const (
	OpNone Op = iota

	// Leaves: buffers, never instructions.
	OpConst
	OpParam
	OpAux
	OpColumn

	// Two operands.
	OpAdd
	OpSub
	OpMul
	OpMulZero // x·y, but 0 where x is 0 even if y is infinite or NaN
	OpDiv
	OpPow
	OpMin
	OpMax
	OpLess  // 1 where x < y, else 0
	OpEqual // 1 where x = y, else 0

	// One operand.
	OpCopy
	OpNeg
	OpExp
	OpLog
	OpLog1p
	OpExpm1
	OpSqrt
	OpSquare
	OpAbs
	OpSign
	OpReciprocal
	OpSigmoid
	OpLogSigmoid
	OpSoftplus
	OpTanh
	OpRelu
	OpGelu
	OpLgamma
	OpDigamma
	OpTrigamma
	OpErf
	OpNormalCDF
	OpLogNormalCDF
	OpFloor
	OpSin
	OpCos
	OpAtan

	// Incomplete gamma and beta functions of two and three operands: special functions
	// whose derivatives are separate operations.
	OpLogGammaP      // log P(x, y)
	OpLogGammaQ      // log Q(x, y)
	OpLogGammaPShape // ∂/∂x log P(x, y)
	OpLogGammaQShape // ∂/∂x log Q(x, y)
	OpLogBetaI       // log I(y, z) at logistic(x)
	OpLogBetaIFirst  // ∂/∂y log I(y, z) at logistic(x)
	OpLogBetaISecond // ∂/∂z log I(y, z) at logistic(x)

	// Three operands.
	OpWhere // y where x ≠ 0, else z

	// Operations that are not element-wise; Instr defines them.
	OpView      // node only: folded into an Operand's Map
	OpStop      // node only: its value, without a gradient
	OpStack     // node only: becomes one OpPut per part
	OpPut       // write into part of a buffer
	OpSum       // add into Dst
	OpMaxReduce // maximum into Dst
	OpMatVec    // global matrix times per-record vector
	OpOuter     // outer product of two per-record vectors
	OpGather    // pick a block by a per-record index
	OpScatter   // put a block at a per-record index, 0 elsewhere

	// NumOps is the number of operations.
	NumOps
)

// opInfo describes an element-wise op: its scalar function and the partial
// derivatives in partial.go. Other ops have a name only.
type opInfo struct {
	name  string
	arity int // 1, 2 or 3 for element-wise ops, else 0
	is    trait
	f1    func(x float64) float64
	f2    func(x, y float64) float64
	f3    func(x, y, z float64) float64
}

// trait is a set of properties of an op.
type trait uint8

const (
	finite   trait = 1 << iota // finite values at finite arguments, unless they overflow
	jumps                      // jumps or has poles: it magnifies the last bit of an argument
	positive                   // has poles or no value elsewhere: tested at positive arguments
	compiled                   // made by the compiler alone, for a derivative
)

// ops is indexed by Op. A new element-wise op is a constant above, a line
// here, a case of partial and a constructor in elementwise.go.
var ops = [NumOps]opInfo{
	OpConst:  {name: "const", is: finite},
	OpParam:  {name: "param", is: finite},
	OpAux:    {name: "aux", is: finite},
	OpColumn: {name: "column", is: finite},

	OpAdd:     {name: "add", arity: 2, f2: func(x, y float64) float64 { return x + y }, is: finite},
	OpSub:     {name: "sub", arity: 2, f2: func(x, y float64) float64 { return x - y }, is: finite},
	OpMul:     {name: "mul", arity: 2, f2: func(x, y float64) float64 { return x * y }, is: finite},
	OpMulZero: {name: "mulzero", arity: 2, f2: mulZero, is: finite | compiled},
	OpDiv:     {name: "div", arity: 2, f2: func(x, y float64) float64 { return x / y }, is: positive},
	OpPow:     {name: "pow", arity: 2, f2: math.Pow, is: positive},
	OpMin:     {name: "min", arity: 2, f2: math.Min, is: finite},
	OpMax:     {name: "max", arity: 2, f2: math.Max, is: finite},
	OpLess:    {name: "less", arity: 2, f2: func(x, y float64) float64 { return indicator(x < y) }, is: finite},
	OpEqual:   {name: "equal", arity: 2, f2: func(x, y float64) float64 { return indicator(x == y) }, is: finite},

	OpCopy:         {name: "copy", arity: 1, f1: func(x float64) float64 { return x }, is: finite | compiled},
	OpNeg:          {name: "neg", arity: 1, f1: func(x float64) float64 { return -x }, is: finite},
	OpExp:          {name: "exp", arity: 1, f1: math.Exp},
	OpLog:          {name: "log", arity: 1, f1: math.Log, is: positive},
	OpLog1p:        {name: "log1p", arity: 1, f1: math.Log1p, is: positive},
	OpExpm1:        {name: "expm1", arity: 1, f1: math.Expm1},
	OpSqrt:         {name: "sqrt", arity: 1, f1: math.Sqrt, is: positive},
	OpSquare:       {name: "square", arity: 1, f1: func(x float64) float64 { return x * x }, is: finite},
	OpAbs:          {name: "abs", arity: 1, f1: math.Abs, is: finite},
	OpSign:         {name: "sign", arity: 1, f1: sign, is: finite | jumps},
	OpReciprocal:   {name: "reciprocal", arity: 1, f1: func(x float64) float64 { return 1 / x }, is: positive},
	OpSigmoid:      {name: "sigmoid", arity: 1, f1: special.Sigmoid, is: finite},
	OpLogSigmoid:   {name: "logsigmoid", arity: 1, f1: func(x float64) float64 { return -special.Softplus(-x) }, is: finite},
	OpSoftplus:     {name: "softplus", arity: 1, f1: special.Softplus, is: finite},
	OpTanh:         {name: "tanh", arity: 1, f1: math.Tanh, is: finite},
	OpRelu:         {name: "relu", arity: 1, f1: func(x float64) float64 { return math.Max(x, 0) }, is: finite},
	OpGelu:         {name: "gelu", arity: 1, f1: func(x float64) float64 { return x * special.NormalCDF(x) }, is: finite},
	OpLgamma:       {name: "lgamma", arity: 1, f1: special.Lgamma, is: jumps | positive},
	OpDigamma:      {name: "digamma", arity: 1, f1: special.Digamma, is: jumps | positive},
	OpTrigamma:     {name: "trigamma", arity: 1, f1: special.Trigamma, is: jumps | compiled},
	OpErf:          {name: "erf", arity: 1, f1: math.Erf, is: finite},
	OpNormalCDF:    {name: "normalcdf", arity: 1, f1: special.NormalCDF, is: finite},
	OpLogNormalCDF: {name: "lognormalcdf", arity: 1, f1: special.LogNormalCDF},
	OpFloor:        {name: "floor", arity: 1, f1: math.Floor, is: finite | jumps},
	OpSin:          {name: "sin", arity: 1, f1: math.Sin, is: finite},
	OpCos:          {name: "cos", arity: 1, f1: math.Cos, is: finite},
	OpAtan:         {name: "atan", arity: 1, f1: math.Atan, is: finite},

	OpLogGammaP:      {name: "loggammap", arity: 2, f2: func(a, x float64) float64 { return special.IncompleteGamma(a, x).Below.V }, is: positive},
	OpLogGammaQ:      {name: "loggammaq", arity: 2, f2: func(a, x float64) float64 { return special.IncompleteGamma(a, x).Above.V }, is: positive},
	OpLogGammaPShape: {name: "loggammap_shape", arity: 2, f2: func(a, x float64) float64 { return special.IncompleteGamma(a, x).Below.A }, is: compiled},
	OpLogGammaQShape: {name: "loggammaq_shape", arity: 2, f2: func(a, x float64) float64 { return special.IncompleteGamma(a, x).Above.A }, is: compiled},
	OpLogBetaI:       {name: "logbetai", arity: 3, f3: func(u, a, b float64) float64 { return special.IncompleteBeta(u, a, b).Below.V }, is: positive},
	OpLogBetaIFirst:  {name: "logbetai_first", arity: 3, f3: func(u, a, b float64) float64 { return special.IncompleteBeta(u, a, b).Below.A }, is: compiled},
	OpLogBetaISecond: {name: "logbetai_second", arity: 3, f3: func(u, a, b float64) float64 { return special.IncompleteBeta(u, a, b).Below.B }, is: compiled},

	OpWhere: {name: "where", arity: 3, f3: where, is: finite},

	OpView:      {name: "view", is: finite},
	OpStop:      {name: "stop_gradient", is: finite},
	OpStack:     {name: "stack", is: finite},
	OpPut:       {name: "put"},
	OpSum:       {name: "sum", is: finite},
	OpMaxReduce: {name: "max_reduce", is: finite},
	OpMatVec:    {name: "matvec", is: finite},
	OpOuter:     {name: "outer", is: finite},
	OpGather:    {name: "gather"},
	OpScatter:   {name: "scatter"},
}

// String is the op's name in listings.
func (o Op) String() string {
	if o < NumOps && ops[o].name != "" {
		return ops[o].name
	}
	return "none"
}

// Arity is the number of operands of an element-wise op (1, 2 or 3), and 0
// for every other op.
func (o Op) Arity() int { return ops[o].arity }

// has reports whether the op has a property.
func (o Op) has(t trait) bool { return ops[o].is&t != 0 }

// operands is the number of operands of an instruction.
func (o Op) operands() int {
	switch o {
	case OpPut, OpSum, OpMaxReduce:
		return 1
	case OpMatVec, OpOuter, OpGather, OpScatter:
		return 2
	}
	return o.Arity()
}

// Eval is the scalar function of an element-wise op, unused operands ignored:
// the definition that every engine's kernels are tested against. It panics for
// other ops.
func (o Op) Eval(x, y, z float64) float64 {
	switch i := &ops[o]; i.arity {
	case 1:
		return i.f1(x)
	case 2:
		return i.f2(x, y)
	case 3:
		return i.f3(x, y, z)
	}
	panic("graph: Eval of " + o.String() + ", which is not element-wise")
}

// The scalar forms of operations that package math does not have.

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func mulZero(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * y
}

func where(x, y, z float64) float64 {
	if x != 0 {
		return y
	}
	return z
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // ±0 and NaN
}
