package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// elementwise emits nameISA(dst, x *float64, n int): n is a positive multiple
// of eight, so that both instruction sets need no tail.
func elementwise(i isa, name, doc string, kernel func(isa, VecVirtual) VecVirtual) {
	TEXT(name+i.suffix(), NOSPLIT, "func(dst, x *float64, n int)")
	Doc(doc + " for i < n, a positive multiple of 8.")
	dst := Load(Param("dst"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	loop(i, n, func(off int) {
		v := kernel(i, i.load(Mem{Base: x, Disp: off}))
		i.store(v, Mem{Base: dst, Disp: off})
	}, x, dst)
}

// loop runs body for every eight elements and advances the pointers.
func loop(i isa, n Register, body func(off int), pointers ...Register) {
	top := fmt.Sprintf("loop%d", labels)
	labels++
	Label(top)
	for k := 0; k < 8; k += i.lanes() {
		body(8 * k)
	}
	for _, p := range pointers {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(8), n)
	JNE(LabelRef(top))
	VZEROUPPER()
	RET()
}

var labels int

const (
	log2e  = math.Log2E
	magic  = 0x1.8p52 // adding it rounds to an integer in the low bits
	ln2Hi  = 6.93147180369123816490e-01
	ln2Lo  = 1.90821492927058770002e-10
	expMax = 709.782712893383973096
	expMin = -708.0
)

// expKernel is the algorithm of expOne in exp.go.
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
