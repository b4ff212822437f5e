package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reductions emits sum and dot: lane j of eight sums the elements j modulo 8 in
// order, then the lanes are added in the tree of isa.total.
func reductions(i isa) {
	TEXT("sum"+i.suffix(), NOSPLIT, "func(a []float64) float64")
	Doc("Σ a")
	a, n := base("a"), length("a")
	lanes := zeros(i)
	loop(i, n, func(v isa, off int) {
		v.addTo(lanes[off/8/i.lanes()], v.load(Mem{Base: a, Disp: off}))
	}, advance(a))
	Store(i.total(lanes), ReturnIndex(0))
	end()

	TEXT("dot"+i.suffix(), NOSPLIT, "func(a, b []float64) float64")
	Doc("Σ a·b")
	a, n = base("a"), length("a")
	b := base("b")
	lanes = zeros(i)
	loop(i, n, func(v isa, off int) {
		v.accumulate(lanes[off/8/i.lanes()], v.load(Mem{Base: a, Disp: off}), v.load(Mem{Base: b, Disp: off}))
	}, advance(a, b))
	Store(i.total(lanes), ReturnIndex(0))
	end()
}

// zeros are eight lanes of zero.
func zeros(i isa) []VecVirtual {
	var v []VecVirtual
	for k := 0; k < 8; k += i.lanes() {
		v = append(v, i.zero())
	}
	return v
}
