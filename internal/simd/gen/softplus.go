package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// softplusSigmoid emits the pair log(1+e^x), 1/(1+e^-x): both share exp(-|x|).
func softplusSigmoid(i isa) {
	TEXT("softplusSigmoid"+i.suffix(), NOSPLIT, "func(softplus, sigmoid, x *float64, n int)")
	Doc("softplus[i] = log(1+exp(x[i])), sigmoid[i] = 1/(1+exp(-x[i])) for i < n, a positive multiple of 8.")
	sp := Load(Param("softplus"), GP64())
	sg := Load(Param("sigmoid"), GP64())
	px := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	loop(i, n, func(off int) {
		x := i.load(Mem{Base: px, Disp: off})
		e := expKernel(i, i.or(x, i.broadcast(1<<63)))
		one := c(i, 1)
		u := i.add(one, e)
		i.store(i.div(i.pick(less, x, c(i, 0), e, one), u), Mem{Base: sg, Disp: off})
		// log1p(e) = log(u) + (e-(u-1))/u
		f, k := split(i, u)
		l := logReduced(i, f, k)
		l = i.add(l, i.div(i.sub(e, i.sub(u, one)), u))
		y := i.add(i.max(x, c(i, 0)), l)
		i.store(i.pick(unordered, x, x, x, y), Mem{Base: sp, Disp: off})
	}, px, sp, sg)
}

// axpy emits dst[i] += a·x[i].
func axpy(i isa) {
	TEXT("axpy"+i.suffix(), NOSPLIT, "func(dst *float64, a float64, x *float64, n int)")
	Doc("dst[i] = fma(a, x[i], dst[i]) for i < n, a positive multiple of 8.")
	dst := Load(Param("dst"), GP64())
	px := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	a := i.spread(NewParamAddr("a", 8))
	loop(i, n, func(off int) {
		m := Mem{Base: dst, Disp: off}
		i.store(i.fma(a, i.load(Mem{Base: px, Disp: off}), i.load(m)), m)
	}, px, dst)
}
