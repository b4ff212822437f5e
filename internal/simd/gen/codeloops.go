package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// squares keeps the sum of eight lanes in registers and walks all elements.
func squares(i isa) {
	to, a, count := vectors(0), vectors(1), elements()
	MOVQ(pitch, R13)
	top, element := label("lanes"), label("element")
	Label(top)
	var sums []VecVirtual
	at := func(p GPPhysical, vector int) Mem { return Mem{Base: p, Disp: 8 * vector * i.lanes()} }
	for vector := range 8 / i.lanes() {
		sums = append(sums, i.load(at(to, vector)))
	}
	MOVQ(a, R12)
	MOVQ(count, R11)
	Label(element)
	for vector := range sums {
		x := i.load(at(R12, vector))
		i.accumulate(sums[vector], x, x)
	}
	ADDQ(pitch, R12)
	DECQ(R11)
	JNZ(LabelRef(element))
	for vector, sum := range sums {
		i.store(sum, at(to, vector))
	}
	ADDQ(Imm(64), to)
	ADDQ(Imm(64), a)
	SUBQ(Imm(64), R13)
	JNZ(LabelRef(top))
	next()
}

// scale keeps eight lanes of b in registers and walks all elements.
func scale(i isa) {
	to, a, b, count := vectors(0), vectors(1), vectors(2), elements()
	MOVQ(pitch, R13)
	top, element := label("lanes"), label("element")
	at := func(p, index GPPhysical, vector int) Mem {
		return Mem{Base: p, Index: index, Scale: 1, Disp: 8 * vector * i.lanes()}
	}
	Label(top)
	var factors []VecVirtual
	for vector := range 8 / i.lanes() {
		factors = append(factors, i.load(Mem{Base: b, Disp: 8 * vector * i.lanes()}))
	}
	XORQ(R12, R12)
	MOVQ(count, R11)
	Label(element)
	for vector, factor := range factors {
		i.store(i.mul(i.load(at(a, R12, vector)), factor), at(to, R12, vector))
	}
	ADDQ(pitch, R12)
	DECQ(R11)
	JNZ(LabelRef(element))
	for _, p := range []GPPhysical{to, a, b} {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(64), R13)
	JNZ(LabelRef(top))
	next()
}

// gather computes the indices of eight lanes once for all elements.
func gather(i isa) {
	to, wide := vectors(0), i.spread(Mem{Base: scalars(1)})
	table, block, count := scalars(2), vectors(3), elements()
	MOVQ(pitch, R13)
	top, element := label("lanes"), label("element")
	Label(top)
	var index, blocks []VecVirtual
	for vector := range 8 / i.lanes() {
		b := i.load(Mem{Base: block, Disp: 8 * vector * i.lanes()})
		// a number below 2^52 becomes an integer by way of 2^52
		at := i.add(i.mul(i.max(b, c(i, 0)), wide), c(i, 0x1p52))
		index, blocks = append(index, i.xor(at, c(i, 0x1p52))), append(blocks, b)
	}
	MOVQ(table, R12)
	MOVQ(to, places[1])
	MOVQ(count, R11)
	Label(element)
	for vector := range index {
		x := fetch(i, 8, R12, index[vector])
		x = i.pick(less, blocks[vector], c(i, 0), i.broadcast(nan), x)
		i.store(x, Mem{Base: places[1], Disp: 8 * vector * i.lanes()})
	}
	ADDQ(Imm(8), R12)
	ADDQ(pitch, places[1])
	DECQ(R11)
	JNZ(LabelRef(element))
	ADDQ(Imm(64), to)
	ADDQ(Imm(64), block)
	SUBQ(Imm(64), R13)
	JNZ(LabelRef(top))
	next()
}

// dots takes one product after the other, in the shape of dot.
func dots(i isa) {
	to, a, b, count := scalars(0), vectors(1), vectors(2), elements()
	element := label("element")
	Label(element)
	total(i, to, a, func(v isa, off int, x VecVirtual) VecVirtual {
		return x
	}, b)
	ADDQ(Imm(8), to)
	ADDQ(pitch, a)
	DECQ(count)
	JNZ(LabelRef(element))
	next()
}

// groupDots is dots for one group after the other.
func groupDots(i isa) {
	to, a, b, block := scalars(0), vectors(1), vectors(2), vectors(3)
	group, one := i.zero(), c(i, 1)
	MOVLQSX(Mem{Base: current, Disp: moreAt}, R13)
	top, element := label("group"), label("element")
	Label(top)
	count := elements()
	first := GP64()
	MOVQ(a, first)
	Label(element)
	total(i, to, a, func(v isa, off int, x VecVirtual) VecVirtual {
		return i.pick(equal, v.load(Mem{Base: block, Index: R12, Scale: 1, Disp: off}), group, x, i.zero())
	}, b)
	ADDQ(Imm(8), to)
	ADDQ(pitch, a)
	DECQ(count)
	JNZ(LabelRef(element))
	MOVQ(first, a)
	i.addTo(group, one)
	DECQ(R13)
	JNZ(LabelRef(top))
	next()
}

// total stores the sum of the products of a, as seen by of, and b over the
// lanes in use, in the shape of dot. R12 walks the lanes, in bytes.
func total(i isa, to, a GPPhysical, of func(v isa, off int, x VecVirtual) VecVirtual, b GPPhysical) {
	n := GP64()
	MOVQ(lanes, n)
	XORQ(R12, R12)
	sums := zeros(i)
	loop(i, n, func(v isa, off int) {
		x := of(v, off, v.load(Mem{Base: a, Index: R12, Scale: 1, Disp: off}))
		v.accumulate(sums[off/8/i.lanes()], x, v.load(Mem{Base: b, Index: R12, Scale: 1, Disp: off}))
	}, func() { ADDQ(Imm(64), R12) })
	VMOVSD(i.total(sums), Mem{Base: to})
}
