package main

import (
	"math"

	. "github.com/mmcloughlin/avo/reg"
)

const (
	log2e  = math.Log2E
	magic  = 0x1.8p52 // adding it rounds to an integer in the low bits
	ln2Hi  = 6.93147180369123816490e-01
	ln2Lo  = 1.90821492927058770002e-10
	expMax = 709.782712893383973096
	expMin = -708.0
)

// expKernel is the algorithm of expOne in package simd.
func expKernel(i isa, x VecVirtual) VecVirtual {
	shifted := i.fma(x, c(i, log2e), c(i, magic))
	k := i.sub(shifted, c(i, magic))
	r := i.fnma(k, c(i, ln2Hi), x)
	r = i.fnma(k, c(i, ln2Lo), r)
	p := c(i, expCoefficients[0])
	for _, a := range expCoefficients[1:] {
		p = i.fma(p, r, c(i, a))
	}
	// 2^(k-1): the low bits of shifted hold k.
	bits := i.shl(i.iadd(shifted, i.broadcast(1022)), 52)
	y := i.mul(p, bits)
	y = i.add(y, y)
	y = i.pick(less, c(i, expMax), x, c(i, math.Inf(1)), y)
	y = i.pick(less, x, c(i, expMin), c(i, 0), y)
	return i.pick(unordered, x, x, x, y)
}

// expCoefficients are 1/13!, 1/12!, ..., 1/1!, 1/0!.
var expCoefficients = func() []float64 {
	out := make([]float64, 14)
	f := 1.0
	for j := range out {
		if j > 1 {
			f *= float64(j)
		}
		out[13-j] = 1 / f
	}
	return out
}()
