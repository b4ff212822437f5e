package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// clipFlat emits the factors min(1, C/norm) of squared norms.
func clipFlat(i isa) {
	TEXT("clipFlat"+i.suffix(), NOSPLIT, "func(factor, norm2 []float64, c float64) (beyond, total float64)")
	Doc("factor = min(1, c/√norm2); beyond is how many √norm2 > c or are not a number, total Σ norm2")
	factor, n, norm2 := base("factor"), length("factor"), base("norm2")
	bound := scalar(i, "c")
	one := c(i, 1)
	counts, sums := zeros(i), zeros(i)
	loop(i, n, func(i isa, off int) {
		square := i.load(Mem{Base: norm2, Disp: off})
		norm := i.sqrt(square)
		i.store(i.pick(lessEqual, norm, bound, one, i.div(bound, norm)), Mem{Base: factor, Disp: off})
		vector := off / 8 / i.lanes()
		i.addTo(counts[vector], i.pick(lessEqual, norm, bound, i.zero(), one))
		i.addTo(sums[vector], square)
	}, advance(factor, norm2))
	Store(i.total(counts).AsX(), ReturnIndex(0))
	Store(i.total(sums).AsX(), ReturnIndex(1))
	end()
}
