package main

import (
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels of this package are, rounding by rounding, the functions of
// package simd with One instead of Kernel at the end of their names.

// polynomial is Horner's rule with fused multiply-adds, the highest power first.
func polynomial(i isa, coefficients []float64, x VecVirtual) VecVirtual {
	p := c(i, coefficients[0])
	for _, a := range coefficients[1:] {
		next := c(i, a)
		i.accumulate(next, p, x)
		p = next
	}
	return p
}

func expKernel(i isa, x VecVirtual) VecVirtual {
	r, half := expReduced(i, x)
	y := i.mul(polynomial(i, values("expCoefficients"), r), half)
	return expEnds(i, x, i.add(y, y), 0)
}

// expReduced returns r and 2^(k-1) with x = k·ln 2 + r, as of a number that
// overflows where x is larger.
func expReduced(i isa, x VecVirtual) (r, half VecVirtual) {
	x = i.min(c(i, overflow), x) // the second where one is NaN
	magic := c(i, number("magic"))
	shifted := i.fma(x, c(i, number("log2E")), magic)
	k := i.sub(shifted, magic)
	r = i.fnma(k, c(i, number("ln2Hi")), x)
	i.deduct(r, k, c(i, number("ln2Lo")))
	// the low bits of shifted hold k
	return r, i.shl(i.iadd(shifted, i.broadcast(1022)), 52)
}

// overflow has an infinite exponential and a finite half of it.
const overflow = 710

// expEnds sets y to least where exp(x) vanishes. Where exp(x) overflows y is infinite
// already, and NaN for NaN.
func expEnds(i isa, x, y VecVirtual, least float64) VecVirtual {
	i.replace(y, less, x, c(i, number("expMin")), c(i, least))
	return y
}

func expm1Kernel(i isa, x VecVirtual) VecVirtual {
	r, half := expReduced(i, x)
	all := values("expCoefficients")
	p := i.fma(i.mul(r, r), polynomial(i, all[:len(all)-2], r), r)
	y := i.fma(p, half, i.sub(half, c(i, 0.5)))
	return expEnds(i, x, i.add(y, y), -1)
}

func tanhKernel(i isa, x VecVirtual) VecVirtual {
	a := atMost(i, absolute(i, x), number("tanhMax"))
	e := expm1Kernel(i, i.add(a, a))
	return copySign(i, i.div(e, i.add(e, c(i, 2))), x)
}

const signBit = 1 << 63

func absolute(i isa, x VecVirtual) VecVirtual { return i.and(x, i.broadcast(signBit-1)) }

// copySign gives y, which is not negative, the sign of x.
func copySign(i isa, y, x VecVirtual) VecVirtual { return i.or(y, i.and(x, i.broadcast(signBit))) }

// atMost is the smaller of x and bound; NaN stays NaN.
func atMost(i isa, x VecVirtual, bound float64) VecVirtual {
	b := c(i, bound)
	return i.pick(less, b, x, b, x)
}
