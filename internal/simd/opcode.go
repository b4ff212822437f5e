package simd

// An Opcode is the operation of an instruction of a Program, on all lanes of its elements
// unless its comment has other ones: a, b and c are its operands, s an operand that is
// one number. Errors of functions are bounded in ulp.
type Opcode uint8

// The opcodes.
const (
	opStop         Opcode = iota // the end of a program
	OpFill                       // to = s
	OpCopy                       // to = a
	OpNeg                        // to = -a
	OpSquare                     // to = a²
	OpReciprocal                 // to = 1/a
	OpSqrt                       // to = √a
	OpExp                        // to = exp(a); 1 ulp
	OpLog                        // to = log(a); 1 ulp
	OpSigmoid                    // to = 1/(1+exp(-a)); 3 ulp
	OpSoftplus                   // to = log(1+exp(a)); 3 ulp
	OpExpm1                      // to = exp(a)-1; 2 ulp
	OpLog1p                      // to = log(1+a); 2 ulp
	OpLogSigmoid                 // to = -log(1+exp(-a)); 3 ulp
	OpTanh                       // to = tanh(a); 3 ulp
	OpErf                        // to = erf(a); 2 ulp
	OpNormalCDF                  // to = Φ(a); 5 ulp
	OpLogNormalCDF               // to = log Φ(a); 5 ulp
	OpGelu                       // to = a·Φ(a); 5 ulp
	OpAbs                        // to = |a|
	OpAdd                        // to = a + b
	OpSub                        // to = a - b
	OpMul                        // to = a·b
	OpDiv                        // to = a/b
	OpMax                        // to = max(a, b); NaN wins
	OpMin                        // to = min(a, b); NaN wins
	OpMulZero                    // to = a·b, but 0 where a is 0
	OpLess                       // to = 1 where a < b, else 0
	OpEqual                      // to = 1 where a = b, else 0
	OpAddScalar                  // to = a + s
	OpSubScalar                  // to = a - s
	OpFromScalar                 // to = s - a
	OpMulScalar                  // to = a·s
	OpDivScalar                  // to = a/s
	OpOverScalar                 // to = s/a
	OpMaxScalar                  // to = max(a, s); NaN wins
	OpLessScalar                 // to = 1 where a < s, else 0
	OpAboveScalar                // to = 1 where s < a, else 0
	OpEqualScalar                // to = 1 where a = s, else 0
	OpAddProduct                 // to += a·b, with one rounding
	OpAxpy                       // to += a·s, with one rounding
	OpWhere                      // to = b where a is not 0, else c
	OpBlock                      // to = a truncated where -1 < a < s, else -1
	OpSpoil                      // to = NaN where a < 0
	OpSquares                    // to += Σ a² over the elements of a; to is one element
	OpGather                     // to[i] = number c·s + i of b, c < Groups being a lane of one element; NaN where c < 0
	OpDots                       // to[k·Count+i] = Σ a[i]·b[k] over the lanes, for k < Groups; to are numbers
	OpScale                      // to[i] = a[i]·b; b is one element
	OpGroupDots                  // to[k·Count+i] = Σ a[i]·b over the lanes where c is k, for k < Groups; b and c are one element, to are numbers
	OpCombine                    // to = Σ a[i]·b[Groups·i] over the elements, each after the first added with one rounding; to is one element, b are numbers
	opcodes
)

// A kind is how an instruction reads or writes a place.
type kind uint8

const (
	absent  kind = iota
	vectors      // Count elements, each of as many lanes as the program runs on
	vector       // one such element
	groups       // Groups such elements
	number       // one number
	numbers      // numbers that lie together
)

// kindsOf are the kinds of the destination and of the operands a, b, c.
func kindsOf(op Opcode) [4]kind {
	switch {
	case op == OpFill:
		return [4]kind{vectors, number}
	case op <= OpAbs:
		return [4]kind{vectors, vectors}
	case op <= OpEqual, op == OpAddProduct:
		return [4]kind{vectors, vectors, vectors}
	case op <= OpEqualScalar, op == OpAxpy, op == OpBlock:
		return [4]kind{vectors, vectors, number}
	case op == OpWhere:
		return [4]kind{vectors, vectors, vectors, vectors}
	case op == OpSpoil:
		return [4]kind{vectors, vectors}
	case op == OpSquares:
		return [4]kind{vector, vectors}
	case op == OpGather:
		return [4]kind{vectors, number, numbers, vector}
	case op == OpScale:
		return [4]kind{vectors, vectors, vector}
	case op == OpDots:
		return [4]kind{numbers, vectors, groups}
	case op == OpCombine:
		return [4]kind{vector, vectors, numbers}
	}
	return [4]kind{numbers, vectors, vector, vector} // OpGroupDots
}

// grouped reports whether an instruction has a number of groups.
func grouped(op Opcode) bool { return op == OpGather || op >= OpDots && op != OpScale }
