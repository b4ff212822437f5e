package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// adam emits the optimizer's step, in the order of roundings of the plain form,
// and another one that keeps the gains.
func adam(i isa) {
	adamStep(i, "adam", false)
	adamStep(i, "adamGain", true)
}

// root is √x; x is consumed.
func root(i isa, x VecVirtual) VecVirtual {
	y := i.isub(i.broadcast(uint64(number("rootGuess"))), i.shr(x, 1))
	half := i.mul(x, c(i, 0.5))
	for range 3 {
		y = i.fma(y, i.fnma(i.mul(half, y), y, c(i, 0.5)), y)
	}
	s := i.mul(x, y)
	return i.fma(i.mul(y, c(i, 0.5)), i.fnma(s, s, x), s)
}

func adamStep(i isa, name string, keep bool) {
	vectors := "x, grad, first, second"
	doc := "One step of Adam: x += gain·first·unbias1, gain = rate/(√(second·unbias2) + epsilon)."
	if keep {
		vectors += ", gain"
	}
	TEXT(name+i.suffix(), NOSPLIT, "func("+vectors+" []float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64)")
	Doc(doc)
	x, n := base("x"), length("x")
	grad, first, second := base("grad"), base("first"), base("second")
	moving := []Register{x, grad, first, second}
	var gain GPVirtual
	if keep {
		gain = base("gain")
		moving = append(moving, gain)
	}
	beta1, rest1, beta2, rest2 := scalar(i, "beta1"), scalar(i, "rest1"), scalar(i, "beta2"), scalar(i, "rest2")
	unbias1, unbias2, epsilon, rate := scalar(i, "unbias1"), scalar(i, "unbias2"), scalar(i, "epsilon"), scalar(i, "rate")
	loop(i, n, func(i isa, off int) {
		at := func(p GPVirtual) Mem { return Mem{Base: p, Disp: off} }
		d := i.load(at(grad))
		m := i.add(i.mul(beta1, i.load(at(first))), i.mul(rest1, d))
		v := i.add(i.mul(beta2, i.load(at(second))), i.mul(i.mul(rest2, d), d))
		i.store(m, at(first))
		i.store(v, at(second))
		a := i.div(rate, i.add(root(i, i.mul(v, unbias2)), epsilon))
		if keep {
			i.store(a, at(gain))
		}
		i.store(i.add(i.load(at(x)), i.mul(i.mul(a, m), unbias1)), at(x))
	}, advance(moving...))
	end()
}
