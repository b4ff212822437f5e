package main

import (
	. "github.com/mmcloughlin/avo/reg"
)

func sigmoidKernel(i isa, x VecVirtual) VecVirtual {
	e, one := expMinusAbs(i, x), c(i, 1)
	return i.div(i.pick(less, x, c(i, 0), e, one), i.add(one, e))
}

func softplusKernel(i isa, x VecVirtual) VecVirtual {
	e, one := expMinusAbs(i, x), c(i, 1)
	u := i.add(one, e)
	// log1p(e) = log(u) + (e-(u-1))/u
	f, k := split(i, u)
	l := logReduced(i, f, k)
	l = i.add(l, i.div(i.sub(e, i.sub(u, one)), u))
	y := i.add(i.max(x, c(i, 0)), l)
	i.replace(y, unordered, x, x, x)
	return y
}

func logSigmoidKernel(i isa, x VecVirtual) VecVirtual {
	return negative(i, softplusKernel(i, negative(i, x)))
}

func negative(i isa, x VecVirtual) VecVirtual { return i.xor(x, i.broadcast(signBit)) }

// expMinusAbs is exp(-|x|).
func expMinusAbs(i isa, x VecVirtual) VecVirtual { return expKernel(i, i.or(x, i.broadcast(signBit))) }
