package main

import (
	. "github.com/mmcloughlin/avo/reg"
)

// mills is exp(t²/2)·Φ(-t), t >= 0.
func mills(i isa, t VecVirtual) VecVirtual {
	five := c(i, 5)
	p := polynomial(i, values("millsCoefficients"), i.div(i.sub(t, five), i.add(t, five)))
	return i.div(p, i.add(c(i, 1), t))
}

// tail is Φ(-t), t >= 0; it returns mills(t), too.
func tail(i isa, t VecVirtual) (y, m VecVirtual) {
	t = atMost(i, t, number("tailMax"))
	half := i.mul(c(i, -0.5), t)
	e := i.mul(half, t)
	rounding := i.fma(half, t, negative(i, e))
	y, m = expKernel(i, e), mills(i, t)
	return i.mul(i.fma(y, rounding, y), m), m
}

func normalCDFKernel(i isa, x VecVirtual) VecVirtual {
	y, _ := tail(i, absolute(i, x))
	return i.pick(less, c(i, 0), x, i.sub(c(i, 1), y), y)
}

func geluKernel(i isa, x VecVirtual) VecVirtual { return i.mul(x, normalCDFKernel(i, x)) }

func logNormalCDFKernel(i isa, x VecVirtual) VecVirtual {
	zero, one, a := c(i, 0), c(i, 1), absolute(i, x)
	y, m := tail(i, a)
	upper := i.sub(one, y)
	lost := i.div(i.sub(negative(i, y), i.sub(upper, one)), upper)
	u := i.pick(less, zero, x, upper, m)
	rest := i.pick(less, zero, x, lost, i.mul(i.mul(c(i, -0.5), a), a))
	f, k := split(i, u)
	return i.add(logReduced(i, f, k), rest)
}

func erfKernel(i isa, x VecVirtual) VecVirtual {
	one, a := c(i, 1), absolute(i, x)
	y, _ := tail(i, i.mul(a, c(i, number("root2"))))
	y = i.sub(one, i.add(y, y))
	near := i.mul(a, polynomial(i, values("erfCoefficients"), i.mul(a, a)))
	return copySign(i, i.pick(less, a, one, near, y), x)
}
