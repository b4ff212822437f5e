package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// avx2 is AVX2 with FMA: registers of 32 bytes. With masks, loads and stores
// are confined to the lanes where they are ones.
type avx2 struct {
	operations
	mask, halfMask VecVirtual // of the numbers, and of float32 in half a register
}

func newAVX2(n numbers) avx2 { return avx2{operations: operations{YMM, n}} }

func (avx2) suffix() string { return "AVX2" }
func (i avx2) lanes() int   { return 32 / i.bytes }

func (i avx2) load(m Mem) VecVirtual {
	if i.mask == nil {
		return i.to(i.move, m)
	}
	v := YMM()
	i.moveMasked(m, i.mask, v)
	return v
}

func (i avx2) loadSingle(m Mem) VecVirtual {
	if i.mask == nil {
		return i.to(VCVTPS2PD, m)
	}
	x := XMM()
	VMASKMOVPS(m, i.halfMask, x)
	return i.to(VCVTPS2PD, x)
}

func (i avx2) store(v VecVirtual, m Mem) {
	if i.mask == nil {
		i.move(v, m)
	} else {
		i.moveMasked(v, i.mask, m)
	}
}

func (i avx2) storeSingle(v VecVirtual, m Mem) {
	half := XMM()
	VCVTPD2PSY(v, half)
	if i.mask == nil {
		VMOVUPS(half, m)
	} else {
		VMASKMOVPS(half, i.halfMask, m)
	}
}

func (i avx2) masked(n GPVirtual, vectors int) []isa {
	if vectors != 2 {
		panic("avx2: a tail is of two vectors")
	}
	back, table := GP64(), GP64()
	XORQ(back, back)
	SUBQ(n, back)
	words := 2 * i.lanes()
	mask := func(bytes, k int, v VecVirtual) VecVirtual {
		LEAQ(tailMask(words, bytes).Offset(bytes*(words+k*i.lanes())), table)
		VMOVUPS(Mem{Base: table, Index: back, Scale: uint8(bytes)}, v)
		return v
	}
	var out []isa
	for k := range vectors {
		i.mask = mask(i.bytes, k, YMM())
		if i.bytes == 8 {
			i.halfMask = mask(4, k, XMM())
		}
		out = append(out, i)
	}
	return out
}

func (avx2) zero() VecVirtual { v := YMM(); VXORPD(v, v, v); return v }

func (i avx2) pick(p predicate, a, b, yes, no VecVirtual) VecVirtual {
	mask, v := i.to(VCMPPD, U8(p), b, a), YMM()
	VBLENDVPD(mask, yes, no, v)
	return v
}

func (i avx2) replace(in VecVirtual, p predicate, a, b, yes VecVirtual) {
	VBLENDVPD(i.to(VCMPPD, U8(p), b, a), yes, in, in)
}

func (i avx2) total(v []VecVirtual) VecVirtual { return totalOfFour(i.add(v[0], v[1])) }

func (i avx2) totals(v [4][]VecVirtual) VecVirtual {
	const lows, highs = 0x20, 0x31 // halves of two registers
	twos := func(a, b []VecVirtual) VecVirtual {
		x, y, low, high := i.add(a[0], a[1]), i.add(b[0], b[1]), YMM(), YMM()
		VPERM2F128(U8(lows), y, x, low)
		VPERM2F128(U8(highs), y, x, high)
		return i.add(low, high)
	}
	total := YMM()
	VHADDPD(twos(v[1], v[3]), twos(v[0], v[2]), total)
	return total
}

func (i avx2) transposed(v []VecVirtual) []VecVirtual {
	const lows, highs = 0x20, 0x31 // halves of two registers
	var out [4]VecVirtual
	for k, unpack := range []func(...Op){VUNPCKLPD, VUNPCKHPD} {
		a, b := i.to(unpack, v[1], v[0]), i.to(unpack, v[3], v[2])
		out[k], out[k+2] = YMM(), YMM()
		VPERM2F128(U8(lows), b, a, out[k])
		VPERM2F128(U8(highs), b, a, out[k+2])
	}
	return out[:]
}

func (avx2) scatter(v VecVirtual, at func(k int) Mem) {
	for k := range 2 {
		pair := XMM()
		VEXTRACTF128(U8(k), v, pair)
		VMOVLPD(pair, at(2*k))
		VMOVHPD(pair, at(2*k+1))
	}
}

// totalOfFour adds the lanes of four.
func totalOfFour(four VecVirtual) VecVirtual {
	high, low := XMM(), XMM()
	VEXTRACTF128(U8(1), four, high)
	VADDPD(high, four.AsX(), low)
	VUNPCKHPD(low, low, high)
	VADDSD(high, low, low)
	return low
}
