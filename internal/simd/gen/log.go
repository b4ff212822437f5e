package main

import (
	"math"

	. "github.com/mmcloughlin/avo/reg"
)

func logKernel(i isa, x VecVirtual) VecVirtual {
	// Subnormal numbers are scaled by 2^54 first.
	tiny := c(i, 0x1p-1022)
	scaled := i.pick(less, x, tiny, i.mul(x, c(i, 0x1p54)), x)
	bias := i.pick(less, x, tiny, c(i, 54), c(i, 0))
	f, k := split(i, scaled)
	k = i.sub(k, bias)
	y := logReduced(i, f, k)
	i.replace(y, lessEqual, c(i, math.Inf(1)), x, x)
	i.replace(y, lessEqual, x, c(i, 0), c(i, math.Inf(-1)))
	i.replace(y, less, x, c(i, 0), i.broadcast(nan))
	i.replace(y, unordered, x, x, x)
	return y
}

// log1pKernel also gives the rounding of 1+x back, unless x is -1 or not finite.
func log1pKernel(i isa, x VecVirtual) VecVirtual {
	one := c(i, 1)
	u := i.add(one, x)
	lost := i.div(i.sub(x, i.sub(u, one)), u)
	lost = i.pick(unordered, lost, lost, c(i, 0), lost)
	return i.add(logKernel(i, u), lost)
}

const nan = 0x7ff8000000000001

// split returns f and k with x = (1+f)·2^k and sqrt(1/2) <= 1+f < sqrt(2),
// for normal positive x.
func split(i isa, x VecVirtual) (f, k VecVirtual) {
	// Subtracting the bits of sqrt(1/2) leaves k in the exponent field; adding
	// 1023 in place keeps it positive.
	t := i.iadd(i.isub(x, i.broadcast(uint64(number("sqrtHalf")))), i.broadcast(1023<<52))
	biased := i.shr(t, 52)
	mantissa := i.isub(x, i.isub(i.shl(biased, 52), i.broadcast(1023<<52)))
	f = i.sub(mantissa, c(i, 1))
	// biased < 2^12 becomes a float by way of 2^52.
	k = i.sub(i.or(biased, c(i, 0x1p52)), c(i, 0x1p52+1023))
	return f, k
}

// logReduced returns log((1+f)·2^k).
func logReduced(i isa, f, k VecVirtual) VecVirtual {
	s := i.div(f, i.add(f, c(i, 2)))
	z := i.mul(s, s)
	r := i.mul(polynomial(i, values("logCoefficients"), z), z)
	half := i.mul(i.mul(f, f), c(i, 0.5))
	t := i.fma(s, i.add(half, r), i.mul(k, c(i, number("ln2Lo"))))
	return i.fma(k, c(i, number("ln2Hi")), i.sub(f, i.sub(half, t)))
}
