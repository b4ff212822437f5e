package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// clipFlat emits the factors min(1, C/norm) of squared norms.
func clipFlat(i isa) {
	TEXT("clipFlat"+i.suffix(), NOSPLIT, "func(factor, within, norm2 []float64, c float64)")
	Doc("factor = min(1, c/√norm2), within = 1/2 where √norm2 <= c, else -1/2")
	factor, n := base("factor"), length("factor")
	within, norm2 := base("within"), base("norm2")
	bound := scalar(i, "c")
	one, half, minusHalf := c(i, 1), c(i, 0.5), c(i, -0.5)
	loop(i, n, func(i isa, off int) {
		norm := i.sqrt(i.load(Mem{Base: norm2, Disp: off}))
		i.store(i.pick(lessEqual, norm, bound, one, i.div(bound, norm)), Mem{Base: factor, Disp: off})
		i.store(i.pick(lessEqual, norm, bound, half, minusHalf), Mem{Base: within, Disp: off})
	}, advance(factor, within, norm2))
	end()
}
