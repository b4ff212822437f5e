package simd

import "math"

// functions are the plain forms of the functions of one value.
var functions = [opcodes]func(float64) float64{
	OpExp: expOne, OpLog: logOne, OpSigmoid: sigmoidOne, OpSoftplus: softplusOne, OpExpm1: expm1One, OpLog1p: log1pOne,
	OpLogSigmoid: logSigmoidOne, OpTanh: tanhOne, OpErf: erfOne, OpNormalCDF: normalCDFOne, OpLogNormalCDF: logNormalCDFOne,
	OpGelu: geluOne,
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
	switch in.Op {
	case OpFill:
		for i := range to {
			to[i] = s
		}
	case OpCopy:
		copy(to, a)
	case OpNeg:
		plain.neg(to, a)
	case OpSquare:
		plain.square(to, a)
	case OpReciprocal:
		reciprocal(to, a)
	case OpSqrt:
		sqrt(to, a)
	case OpAbs:
		for i, x := range a {
			to[i] = math.Abs(x)
		}
	case OpAdd:
		plain.add(to, a, b)
	case OpSub:
		plain.sub(to, a, b)
	case OpMul:
		plain.mul(to, a, b)
	case OpDiv:
		plain.div(to, a, b)
	case OpMax:
		maximum(to, a, b)
	case OpMin:
		for i, x := range a {
			to[i] = minOne(x, b[i])
		}
	case OpMulZero:
		for i, x := range a {
			if x != 0 {
				x *= b[i]
			} else {
				x = 0
			}
			to[i] = x
		}
	case OpLess:
		indicate(to, func(i int) bool { return a[i] < b[i] })
	case OpEqual:
		indicate(to, func(i int) bool { return a[i] == b[i] })
	case OpLessScalar:
		indicate(to, func(i int) bool { return a[i] < s })
	case OpAboveScalar:
		indicate(to, func(i int) bool { return s < a[i] })
	case OpEqualScalar:
		indicate(to, func(i int) bool { return a[i] == s })
	case OpAddScalar:
		plain.addScalar(to, a, s)
	case OpSubScalar:
		plain.addScalar(to, a, -s)
	case OpFromScalar:
		fromScalar(to, a, s)
	case OpMulScalar:
		plain.mulScalar(to, a, s)
	case OpDivScalar:
		divScalar(to, a, s)
	case OpOverScalar:
		overScalar(to, a, s)
	case OpMaxScalar:
		maxScalar(to, a, s)
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
	case OpBlock:
		for i, x := range a {
			if to[i] = -1; x > -1 && x < s {
				to[i] = math.Trunc(x)
			}
		}
	case OpSpoil:
		for i, x := range a {
			if x < 0 {
				to[i] = math.NaN()
			}
		}
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

// minOne is the smaller of two; NaN wins.
func minOne(a, b float64) float64 {
	if a < b || a != a {
		return a
	}
	return b
}

func indicate(to []float64, is func(i int) bool) {
	for i := range to {
		if is(i) {
			to[i] = 1
		} else {
			to[i] = 0
		}
	}
}
