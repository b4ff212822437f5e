package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// together is how many elements' products are summed at a time.
const together = 4

// dots takes the products with one element of b after the other.
func dots(i isa) {
	to, a, b := scalars(0), vectors(1), vectors(2)
	groups(i, to, a, func(vector int) VecVirtual {
		return i.load(Mem{Base: b, Index: R12, Scale: 1, Disp: 8 * vector * i.lanes()})
	}, func() { ADDQ(pitch, b) })
}

// groupDots is dots for one group after the other, with zeros for the others' lanes.
func groupDots(i isa) {
	to, a, b, block := scalars(0), vectors(1), vectors(2), vectors(3)
	group, one := i.zero(), c(i, 1)
	groups(i, to, a, func(vector int) VecVirtual {
		at := func(p GPPhysical) Mem {
			return Mem{Base: p, Index: R12, Scale: 1, Disp: 8 * vector * i.lanes()}
		}
		return i.pick(equal, i.load(at(block)), group, i.load(at(b)), i.zero())
	}, func() { i.addTo(group, one) })
}

// groups stores, for each group, the sums over all lanes of the elements of a times a
// factor, in the shape of dot. R12 walks the lanes, in bytes; advance goes on to the
// next group.
func groups(i isa, to, a GPPhysical, factor func(vector int) VecVirtual, advance func()) {
	MOVLQSX(Mem{Base: current, Disp: moreAt}, R13)
	group, several, lanes, some, done := label("group"), label("several"), label("lanes"), label("some"), label("done")
	var p [together]GPVirtual
	for k := range p {
		p[k] = GP64()
	}
	Label(group)
	left := elements()
	MOVQ(a, p[0])
	Label(several)
	for k := 1; k < together; k++ { // the last one over again where there are fewer
		LEAQ(Mem{Base: p[k-1], Index: pitch, Scale: 1}, p[k])
		CMPQ(left, Imm(uint64(k)))
		CMOVQLE(p[k-1], p[k])
	}
	var sums [together][]VecVirtual
	for k := range sums {
		sums[k] = zeros(i)
	}
	XORQ(R12, R12)
	Label(lanes)
	for vector := range sums[0] {
		f := factor(vector)
		for k, sum := range sums {
			i.accumulate(sum[vector], i.load(Mem{Base: p[k], Index: R12, Scale: 1, Disp: 8 * vector * i.lanes()}), f)
		}
	}
	ADDQ(Imm(64), R12)
	CMPQ(R12, pitch)
	JL(LabelRef(lanes))
	totals := i.totals(sums)
	CMPQ(left, Imm(together))
	JL(LabelRef(some))
	VMOVUPD(totals, Mem{Base: to})
	ADDQ(Imm(8*together), to)
	LEAQ(Mem{Base: p[together-1], Index: pitch, Scale: 1}, p[0])
	SUBQ(Imm(together), left)
	JZ(LabelRef(done))
	JMP(LabelRef(several))
	Label(some)
	mask, words := YMM(), GP64()
	LEAQ(tailMask(together, 8).Offset(8*together), words)
	LEAQ(Mem{Base: to, Index: left, Scale: 8}, to)
	NEGQ(left)
	VMOVUPD(Mem{Base: words, Index: left, Scale: 8}, mask)
	VMASKMOVPD(totals, mask, Mem{Base: to, Index: left, Scale: 8})
	Label(done)
	advance()
	DECQ(R13)
	JNZ(LabelRef(group))
	next()
}
