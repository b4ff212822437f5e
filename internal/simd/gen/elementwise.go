package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// elementwise emits the functions of one value, of two, and of a value and a
// scalar.
func elementwise(i isa) {
	unary(i, "exp", "exp(x)", expKernel)
	unary(i, "lgamma", "log Γ(x), x > 0", lgammaKernel)
	unary(i, "digamma", "d/dx log Γ(x), x > 0", digammaKernel)

	binary(i, "add", "a + b", isa.add)
	binary(i, "sub", "a - b", isa.sub)
	binary(i, "mul", "a·b", isa.mul)

	withScalar(i, "addScalar", "a + s", isa.add)
	withScalar(i, "mulScalar", "a·s", isa.mul)
	accumulating(i)
	conversions(i)
}

// maxKernel is the algorithm of maxOne: NaN wins.
func maxKernel(i isa, a, b VecVirtual) VecVirtual {
	return i.pick(unordered, a, a, a, i.pick(less, b, a, a, b))
}

func unary(i isa, name, doc string, kernel func(isa, VecVirtual) VecVirtual) {
	TEXT(name+i.suffix(), NOSPLIT, "func(dst, x []float64)")
	Doc("dst = " + doc)
	dst, x, n := base("dst"), base("x"), length("dst")
	loop(i, n, func(i isa, off int) {
		i.store(kernel(i, i.load(Mem{Base: x, Disp: off})), Mem{Base: dst, Disp: off})
	}, advance(dst, x))
	end()
}

func binary(i isa, name, doc string, op func(i isa, a, b VecVirtual) VecVirtual) {
	TEXT(name+i.suffix(), NOSPLIT, "func(dst, a, b []float64)")
	Doc("dst = " + doc)
	dst, a, b, n := base("dst"), base("a"), base("b"), length("dst")
	loop(i, n, func(i isa, off int) {
		v := op(i, i.load(Mem{Base: a, Disp: off}), i.load(Mem{Base: b, Disp: off}))
		i.store(v, Mem{Base: dst, Disp: off})
	}, advance(dst, a, b))
	end()
}

func withScalar(i isa, name, doc string, op func(i isa, a, s VecVirtual) VecVirtual) {
	TEXT(name+i.suffix(), NOSPLIT, "func(dst, a []float64, s float64)")
	Doc("dst = " + doc)
	dst, a, n := base("dst"), base("a"), length("dst")
	s := scalar(i, "s")
	loop(i, n, func(i isa, off int) {
		i.store(op(i, i.load(Mem{Base: a, Disp: off}), s), Mem{Base: dst, Disp: off})
	}, advance(dst, a))
	end()
}

// accumulating emits dst += a·b and dst += s·a, each with one rounding.
func accumulating(i isa) {
	TEXT("addProduct"+i.suffix(), NOSPLIT, "func(dst, a, b []float64)")
	Doc("dst = fma(a, b, dst)")
	dst, a, b, n := base("dst"), base("a"), base("b"), length("dst")
	loop(i, n, func(i isa, off int) {
		sum := i.load(Mem{Base: dst, Disp: off})
		i.accumulate(sum, i.load(Mem{Base: a, Disp: off}), i.load(Mem{Base: b, Disp: off}))
		i.store(sum, Mem{Base: dst, Disp: off})
	}, advance(dst, a, b))
	end()

	TEXT("axpy"+i.suffix(), NOSPLIT, "func(dst, a []float64, s float64)")
	Doc("dst = fma(s, a, dst)")
	dst, a, n = base("dst"), base("a"), length("dst")
	s := scalar(i, "s")
	loop(i, n, func(i isa, off int) {
		sum := i.load(Mem{Base: dst, Disp: off})
		i.accumulate(sum, s, i.load(Mem{Base: a, Disp: off}))
		i.store(sum, Mem{Base: dst, Disp: off})
	}, advance(dst, a))
	end()
}

// conversions emits the roundings to float32 and the way back.
func conversions(i isa) {
	TEXT("narrow"+i.suffix(), NOSPLIT, "func(dst []float32, x []float64)")
	Doc("dst = x, rounded to float32")
	dst, x, n := base("dst"), base("x"), length("dst")
	loop(i, n, func(i isa, off int) {
		i.storeSingle(i.load(Mem{Base: x, Disp: off}), Mem{Base: dst, Disp: off / 2})
	}, func() {
		ADDQ(Imm(32), dst)
		ADDQ(Imm(64), x)
	})
	end()

	TEXT("widen"+i.suffix(), NOSPLIT, "func(dst []float64, x []float32)")
	Doc("dst = x")
	dst, x, n = base("dst"), base("x"), length("dst")
	loop(i, n, func(i isa, off int) {
		i.store(i.loadSingle(Mem{Base: x, Disp: off / 2}), Mem{Base: dst, Disp: off})
	}, func() {
		ADDQ(Imm(64), dst)
		ADDQ(Imm(32), x)
	})
	end()
}
