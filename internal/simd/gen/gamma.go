package main

import (
	. "github.com/mmcloughlin/avo/reg"
)

// lgammaKernel is for x > 0. Constants are loaded where they are used: AVX2 has
// no registers to keep them in.
func lgammaKernel(i isa, x VecVirtual) VecVirtual {
	// x = 2+z moved by whole steps, whose product is factor
	z := i.pick(less, x, c(i, 1.5), i.sub(x, c(i, 1)), i.sub(x, c(i, 2)))
	z = i.pick(less, x, c(i, 0.5), x, z)
	factor := i.pick(less, x, c(i, 1.5), x, c(i, 1))
	factor = i.pick(less, x, c(i, 0.5), i.mul(x, i.add(x, c(i, 1))), factor)
	for range 6 { // from below 8
		down := i.sub(z, c(i, 1))
		factor = i.pick(lessEqual, c(i, 0.5), z, i.mul(factor, i.add(down, c(i, 2))), factor)
		z = i.pick(lessEqual, c(i, 0.5), z, down, z)
	}
	l := logKernel(i, i.pick(lessEqual, c(i, number("stirlingFrom")), x, x, factor))
	small := i.pick(less, x, c(i, 1.5), negative(i, l), l)
	small = i.fma(z, polynomial(i, values("lgammaCoefficients"), z), small)

	r := i.div(c(i, 1), x)
	series := i.fma(r, polynomial(i, values("lgammaSeries"), i.mul(r, r)), c(i, number("stirling")))
	large := i.fma(i.sub(x, c(i, 0.5)), i.sub(l, c(i, 1)), series)
	return i.pick(lessEqual, c(i, number("stirlingFrom")), x, large, small)
}

// digammaKernel is for x > 0.
func digammaKernel(i isa, x VecVirtual) VecVirtual {
	from := c(i, number("digammaFrom"))
	rising := values("risingCoefficients")
	product, derivative := c(i, rising[0]), c(i, 0)
	for _, a := range rising[1:] {
		derivative = i.fma(derivative, x, product)
		product = i.fma(product, x, c(i, a))
	}
	derivative = i.fma(derivative, x, product)
	steps := i.div(derivative, i.mul(product, x))
	steps = i.pick(less, x, from, steps, c(i, 0))
	y := i.pick(less, x, from, i.add(x, from), x)

	r := i.div(c(i, 1), y)
	z := i.mul(r, r)
	series := i.fma(z, polynomial(i, values("digammaSeries"), z), i.mul(c(i, 0.5), r))
	return i.sub(i.sub(logKernel(i, y), series), steps)
}
