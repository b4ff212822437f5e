package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// blocks runs body for all lanes of an element, as many vectors at a time as are
// whole, up to 32 lanes: body starts where the pointers are.
func blocks(i isa, pointers []GPPhysical, body func(vectors int)) {
	MOVQ(pitch, R13)
	for _, lanes := range []int{32, 8} {
		top, fewer := label("lanes"), label("fewer")
		Label(top)
		CMPQ(R13, U32(8*lanes))
		JL(LabelRef(fewer))
		body(lanes / i.lanes())
		for _, p := range pointers {
			ADDQ(U32(8*lanes), p)
		}
		SUBQ(U32(8*lanes), R13)
		JMP(LabelRef(top))
		Label(fewer)
	}
	next()
}

// squares keeps sums in registers and walks all elements.
func squares(i isa) {
	to, a, count := vectors(0), vectors(1), elements()
	blocks(i, []GPPhysical{to, a}, func(vectors int) {
		var sums []VecVirtual
		for vector := range vectors {
			sums = append(sums, i.load(lane(i, to, vector)))
		}
		MOVQ(a, R12)
		MOVQ(count, R11)
		element := label("element")
		Label(element)
		for vector, sum := range sums {
			x := i.load(lane(i, R12, vector))
			i.accumulate(sum, x, x)
		}
		ADDQ(pitch, R12)
		DECQ(R11)
		JNZ(LabelRef(element))
		for vector, sum := range sums {
			i.store(sum, lane(i, to, vector))
		}
	})
}

// lane is a vector of an element whose lanes are at p.
func lane(i isa, p GPPhysical, vector int) Mem {
	return Mem{Base: p, Disp: 8 * vector * i.lanes()}
}

// combine keeps sums in registers and walks all elements and their factors.
func combine(i isa) {
	to, a, numbers, count := vectors(0), vectors(1), scalars(2), elements()
	step, number := GP64(), places[3]
	MOVLQSX(Mem{Base: current, Disp: moreAt}, step)
	SHLQ(Imm(3), step)
	blocks(i, []GPPhysical{to, a}, func(vectors int) {
		var sums []VecVirtual
		factor := i.spread(Mem{Base: numbers})
		for vector := range vectors {
			sums = append(sums, i.mul(i.load(lane(i, a, vector)), factor))
		}
		MOVQ(a, R12)
		MOVQ(numbers, number)
		MOVQ(count, R11)
		element, stored := label("element"), label("stored")
		Label(element)
		DECQ(R11)
		JZ(LabelRef(stored))
		ADDQ(pitch, R12)
		ADDQ(step, number)
		factor = i.spread(Mem{Base: number})
		for vector, sum := range sums {
			i.accumulate(sum, i.load(lane(i, R12, vector)), factor)
		}
		JMP(LabelRef(element))
		Label(stored)
		for vector, sum := range sums {
			i.store(sum, lane(i, to, vector))
		}
	})
}

// scale keeps lanes of b in registers and walks all elements.
func scale(i isa) {
	to, a, b, count := vectors(0), vectors(1), vectors(2), elements()
	blocks(i, []GPPhysical{to, a, b}, func(vectors int) {
		var factors []VecVirtual
		for vector := range vectors {
			factors = append(factors, i.load(lane(i, b, vector)))
		}
		XORQ(R12, R12)
		MOVQ(count, R11)
		element := label("element")
		Label(element)
		for vector, factor := range factors {
			at := func(p GPPhysical) Mem {
				return Mem{Base: p, Index: R12, Scale: 1, Disp: 8 * vector * i.lanes()}
			}
			i.store(i.mul(i.load(at(a)), factor), at(to))
		}
		ADDQ(pitch, R12)
		DECQ(R11)
		JNZ(LabelRef(element))
	})
}

// gather computes the indices of eight lanes once for all elements, and permutes
// registers where the instruction set can and there are few rows.
func gather(i isa) {
	to, wide := vectors(0), i.spread(Mem{Base: scalars(1)})
	table, block, count := scalars(2), vectors(3), elements()
	if i.suffix() == "AVX512" {
		many := label("many")
		MOVLQSX(Mem{Base: current, Disp: moreAt}, R13)
		CMPQ(R13, Imm(8))
		JG(LabelRef(many))
		permuted(i, to, table, block, count, wide)
		Label(many)
	}
	MOVQ(pitch, R13)
	top, element := label("lanes"), label("element")
	Label(top)
	var index, blocks []VecVirtual
	for vector := range 8 / i.lanes() {
		b := i.load(lane(i, block, vector))
		index, blocks = append(index, whole(i, i.mul(i.max(b, c(i, 0)), wide))), append(blocks, b)
	}
	MOVQ(table, R12)
	MOVQ(to, places[1])
	MOVQ(count, R11)
	Label(element)
	for vector := range index {
		x := fetch(i, R12, index[vector])
		i.store(i.pick(less, blocks[vector], c(i, 0), i.broadcast(nan), x), lane(i, places[1], vector))
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

// whole makes integers of whole numbers below 2^52, by way of 2^52.
func whole(i isa, x VecVirtual) VecVirtual {
	return i.xor(i.add(x, c(i, 0x1p52)), c(i, 0x1p52))
}

// permuted is gather with up to eight rows, R13 of them: of each element they are in
// one register.
func permuted(i isa, to, table, block, count GPPhysical, wide VecVirtual) {
	rows, bits := K(), GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(R13, bits, bits)
	KMOVB(bits.As32(), rows)
	starts := whole(i, i.mul(i.load(upToSeven()), wide))
	element, top := label("element"), label("lanes")
	Label(element)
	column, some := i.zero(), K()
	KMOVB(rows, some)
	VGATHERQPD(Mem{Base: table, Index: starts, Scale: 8}, some, column)
	XORQ(R12, R12)
	Label(top)
	at := func(p GPPhysical) Mem { return Mem{Base: p, Index: R12, Scale: 1} }
	b := i.load(at(block))
	x := ZMM()
	VPERMPD(column, i.add(b, c(i, 0x1p52)), x) // by the last three bits
	i.store(i.pick(less, b, c(i, 0), i.broadcast(nan), x), at(to))
	ADDQ(Imm(64), R12)
	CMPQ(R12, pitch)
	JL(LabelRef(top))
	ADDQ(Imm(8), table)
	ADDQ(pitch, to)
	DECQ(count)
	JNZ(LabelRef(element))
	next()
}

// upToSeven are the numbers 0 to 7.
func upToSeven() Mem {
	const name = "upToSeven"
	m, ok := tables[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for k := range 8 {
			DATA(8*k, U64(math.Float64bits(float64(k))))
		}
		tables[name] = m
	}
	return m
}
