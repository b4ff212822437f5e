package main

import (
	"math"

	. "github.com/mmcloughlin/avo/reg"
)

// logCoefficients are L7 .. L1 of FreeBSD's e_log.c.
var logCoefficients = []float64{
	1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
	2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
}

// logKernel is the algorithm of logOne in log.go.
func logKernel(i isa, x VecVirtual) VecVirtual {
	// Subnormal numbers are scaled by 2^54 first.
	tiny := c(i, 0x1p-1022)
	scaled := i.pick(less, x, tiny, i.mul(x, c(i, 0x1p54)), x)
	bias := i.pick(less, x, tiny, c(i, 54), c(i, 0))
	f, k := split(i, scaled)
	k = i.sub(k, bias)
	y := logReduced(i, f, k)
	y = i.pick(lessEqual, c(i, math.Inf(1)), x, x, y)
	y = i.pick(less, x, c(i, 0), i.broadcast(nan), y)
	y = i.pick(lessEqual, x, c(i, 0), i.pick(less, x, c(i, 0), i.broadcast(nan), c(i, math.Inf(-1))), y)
	return i.pick(unordered, x, x, x, y)
}

const (
	nan      = 0x7ff8000000000001
	sqrtHalf = 0x3fe6a09e667f3bcd // bits of sqrt(1/2)
)

// split returns f and k with x = (1+f)·2^k and sqrt(1/2) <= 1+f < sqrt(2),
// for normal positive x.
func split(i isa, x VecVirtual) (f, k VecVirtual) {
	// Subtracting the bits of sqrt(1/2) leaves k in the exponent field; adding
	// 1023 in place keeps it positive.
	t := i.iadd(i.isub(x, i.broadcast(sqrtHalf)), i.broadcast(1023<<52))
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
	r := c(i, logCoefficients[0])
	for _, a := range logCoefficients[1:] {
		r = i.fma(r, z, c(i, a))
	}
	r = i.mul(r, z)
	half := i.mul(i.mul(f, f), c(i, 0.5))
	t := i.fma(s, i.add(half, r), i.mul(k, c(i, ln2Lo)))
	return i.fma(k, c(i, ln2Hi), i.sub(f, i.sub(half, t)))
}
