package simd

import "math"

// functions are the plain forms of the functions of one value.
var functions = [opcodes]func(float64) float64{
	OpReciprocal: func(x float64) float64 { return 1 / x }, OpSqrt: math.Sqrt, OpAbs: math.Abs,
	OpExp: expOne, OpLog: logOne, OpSigmoid: sigmoidOne, OpSoftplus: softplusOne, OpExpm1: expm1One, OpLog1p: log1pOne,
	OpLogSigmoid: logSigmoidOne, OpTanh: tanhOne, OpErf: erfOne, OpNormalCDF: normalCDFOne, OpLogNormalCDF: logNormalCDFOne,
	OpGelu: geluOne,
}

// pairFunctions are the functions of two values, or of a value and a number.
var pairFunctions = [opcodes]func(a, b float64) float64{
	OpDiv: divOne, OpDivScalar: divOne,
	OpOverScalar: func(a, s float64) float64 { return s / a },
	OpFromScalar: func(a, s float64) float64 { return s - a },
	OpMax:        maxOne, OpMaxScalar: maxOne, OpMin: minOne,
	OpMulZero: func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * b
	},
	OpLess: isLess, OpLessScalar: isLess, OpAboveScalar: func(a, s float64) float64 { return isLess(s, a) },
	OpEqual: isEqual, OpEqualScalar: isEqual,
	OpBlock: func(a, s float64) float64 {
		if a > -1 && a < s {
			return math.Trunc(a)
		}
		return -1
	},
}

// run is the plain form of an instruction. The destination of one that is
// element by element may be one of its operands.
func (in *Instruction) run(spaces *[Spaces][]float64, pitch int) {
	elements := func(p Place, count int) []float64 {
		return spaces[p.Space][int(p.At)*pitch : (int(p.At)+count)*pitch]
	}
	numbers := func(p Place) []float64 { return spaces[p.Space][p.At:] }
	places := [4]Place{in.To, in.A, in.B, in.C}
	var v [4][]float64
	var s float64
	for k, kind := range kindsOf(in.Op) {
		switch kind {
		case vectors:
			v[k] = elements(places[k], in.Count)
		case vector:
			v[k] = elements(places[k], 1)
		case groups:
			v[k] = elements(places[k], in.Groups)
		case number:
			s = numbers(places[k])[0]
		}
	}
	to, a, b := v[0], v[1], v[2]
	if f := functions[in.Op]; f != nil {
		for i, x := range a {
			to[i] = f(x)
		}
		return
	}
	if f := pairFunctions[in.Op]; f != nil && b != nil {
		for i, x := range a {
			to[i] = f(x, b[i])
		}
		return
	} else if f != nil {
		for i, x := range a {
			to[i] = f(x, s)
		}
		return
	}
	if in.Op >= OpSquares {
		in.acrossElements(spaces, v, s, pitch)
		return
	}
	in.elementwise(v, s)
}

// elementwise runs one element at a time, for operations without a function in a table.
func (in *Instruction) elementwise(v [4][]float64, s float64) {
	to, a, b := v[0], v[1], v[2]
	switch in.Op {
	case OpFill:
		for i := range to {
			to[i] = s
		}
	case OpCopy:
		copy(to, a)
	case OpNeg:
		plain.mulScalar(to, a, -1)
	case OpSquare:
		plain.mul(to, a, a)
	case OpAdd:
		plain.add(to, a, b)
	case OpSub:
		plain.sub(to, a, b)
	case OpMul:
		plain.mul(to, a, b)
	case OpAddScalar:
		plain.addScalar(to, a, s)
	case OpSubScalar:
		plain.addScalar(to, a, -s)
	case OpMulScalar:
		plain.mulScalar(to, a, s)
	case OpAddProduct:
		plain.addProduct(to, a, b)
	case OpAxpy:
		plain.axpy(to, a, s)
	case OpWhere:
		for i, x := range a {
			if x != 0 {
				to[i] = b[i]
			} else {
				to[i] = v[3][i]
			}
		}
	case OpSpoil:
		for i, x := range a {
			if x < 0 {
				to[i] = math.NaN()
			}
		}
	}
}

// acrossElements is run for instructions that take several elements, or lanes, together.
func (in *Instruction) acrossElements(spaces *[Spaces][]float64, v [4][]float64, s float64, pitch int) {
	to, a, b := v[0], v[1], v[2]
	numbers := func(p Place) []float64 { return spaces[p.Space][p.At:] }
	switch in.Op {
	case OpSquares:
		for ; len(a) > 0; a = a[pitch:] {
			plain.addProduct(to, a, a)
		}
	case OpGather:
		table := numbers(in.B)
		for i, block := range v[3] {
			for e := range in.Count {
				if to[e*pitch+i] = math.NaN(); block >= 0 {
					to[e*pitch+i] = table[int(block)*int(s)+e]
				}
			}
		}
	case OpDots:
		out := numbers(in.To)
		for k := range in.Groups {
			for e := range in.Count {
				out[k*in.Count+e] = plain.dot(a[e*pitch:][:pitch], b[k*pitch:])
			}
		}
	case OpScale:
		for e := range in.Count {
			plain.mul(to[e*pitch:(e+1)*pitch], a[e*pitch:(e+1)*pitch], b)
		}
	case OpCombine:
		factors := numbers(in.B)
		plain.mulScalar(to, a[:pitch], factors[0])
		for e := 1; e < in.Count; e++ {
			plain.axpy(to, a[e*pitch:(e+1)*pitch], factors[e*in.Groups])
		}
	case OpGroupDots:
		out := numbers(in.To)
		for k := range in.Groups {
			for e := range in.Count {
				out[k*in.Count+e] = groupDot(a[e*pitch:][:pitch], b, v[3], float64(k))
			}
		}
	}
}

// groupDot is dot with zeros in b for the lanes of other groups.
func groupDot(a, b, group []float64, k float64) float64 {
	var s eight
	for i, x := range a {
		f := b[i]
		if group[i] != k {
			f = 0
		}
		s[i%8] = math.FMA(x, f, s[i%8])
	}
	return s.total()
}

func divOne(a, b float64) float64 { return a / b }

// maxOne is the larger of two; NaN wins.
func maxOne(a, b float64) float64 {
	if b < a || a != a {
		return a
	}
	return b
}

// minOne is the smaller of two; NaN wins.
func minOne(a, b float64) float64 {
	if a < b || a != a {
		return a
	}
	return b
}

// isLess is 1 where a < b, else 0.
func isLess(a, b float64) float64 {
	if a < b {
		return 1
	}
	return 0
}

// isEqual is 1 where a = b, else 0.
func isEqual(a, b float64) float64 {
	if a == b {
		return 1
	}
	return 0
}
