package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// avx2 is AVX2 with FMA: four lanes. With masks, loads and stores are confined
// to the lanes where they are ones.
type avx2 struct{ mask, mask32 VecVirtual }

func (avx2) suffix() string { return "AVX2" }
func (avx2) lanes() int     { return 4 }

func (i avx2) load(m Mem) VecVirtual {
	v := YMM()
	if i.mask != nil {
		VMASKMOVPD(m, i.mask, v)
	} else {
		VMOVUPD(m, v)
	}
	return v
}

func (i avx2) loadSingle(m Mem) VecVirtual {
	v := YMM()
	if i.mask != nil {
		x := XMM()
		VMASKMOVPS(m, i.mask32, x)
		VCVTPS2PD(x, v)
	} else {
		VCVTPS2PD(m, v)
	}
	return v
}

func (i avx2) store(v VecVirtual, m Mem) {
	if i.mask != nil {
		VMASKMOVPD(v, i.mask, m)
	} else {
		VMOVUPD(v, m)
	}
}

func (avx2) masked(n GPVirtual, vectors int) []isa {
	if vectors != 2 {
		panic("avx2: a tail is of two vectors")
	}
	back, table := GP64(), GP64()
	XORQ(back, back)
	SUBQ(n, back)
	var out []isa
	for k := range vectors {
		i := avx2{YMM(), XMM()}
		LEAQ(tailMask(8).Offset(64+32*k), table)
		VMOVUPD(Mem{Base: table, Index: back, Scale: 8}, i.mask)
		LEAQ(tailMask(4).Offset(32+16*k), table)
		VMOVUPS(Mem{Base: table, Index: back, Scale: 4}, i.mask32)
		out = append(out, i)
	}
	return out
}

func (avx2) zero() VecVirtual { v := YMM(); VXORPD(v, v, v); return v }
func (avx2) broadcast(bits uint64) VecVirtual {
	v := YMM()
	VBROADCASTSD(constant(bits), v)
	return v
}
func (avx2) spread(m Mem) VecVirtual { v := YMM(); VBROADCASTSD(m, v); return v }

func (avx2) add(a, b VecVirtual) VecVirtual  { v := YMM(); VADDPD(b, a, v); return v }
func (avx2) sub(a, b VecVirtual) VecVirtual  { v := YMM(); VSUBPD(b, a, v); return v }
func (avx2) mul(a, b VecVirtual) VecVirtual  { v := YMM(); VMULPD(b, a, v); return v }
func (avx2) div(a, b VecVirtual) VecVirtual  { v := YMM(); VDIVPD(b, a, v); return v }
func (avx2) max(a, b VecVirtual) VecVirtual  { v := YMM(); VMAXPD(b, a, v); return v }
func (avx2) and(a, b VecVirtual) VecVirtual  { v := YMM(); VPAND(b, a, v); return v }
func (avx2) or(a, b VecVirtual) VecVirtual   { v := YMM(); VPOR(b, a, v); return v }
func (avx2) iadd(a, b VecVirtual) VecVirtual { v := YMM(); VPADDQ(b, a, v); return v }
func (avx2) isub(a, b VecVirtual) VecVirtual { v := YMM(); VPSUBQ(b, a, v); return v }
func (avx2) shl(a VecVirtual, n uint8) VecVirtual {
	v := YMM()
	VPSLLQ(U8(n), a, v)
	return v
}
func (avx2) shr(a VecVirtual, n uint8) VecVirtual {
	v := YMM()
	VPSRLQ(U8(n), a, v)
	return v
}
func (avx2) fma(a, b, c VecVirtual) VecVirtual {
	v := YMM()
	VMOVAPD(c, v)
	VFMADD231PD(b, a, v)
	return v
}
func (avx2) fnma(a, b, c VecVirtual) VecVirtual {
	v := YMM()
	VMOVAPD(c, v)
	VFNMADD231PD(b, a, v)
	return v
}
func (avx2) pick(p predicate, a, b, yes, no VecVirtual) VecVirtual {
	mask, v := YMM(), YMM()
	VCMPPD(U8(p), b, a, mask)
	VBLENDVPD(mask, yes, no, v)
	return v
}

func (avx2) accumulate(sum, a, b VecVirtual) { VFMADD231PD(b, a, sum) }
func (avx2) addTo(sum, a VecVirtual)         { VADDPD(a, sum, sum) }
func (avx2) sqrt(a VecVirtual) VecVirtual    { v := YMM(); VSQRTPD(a, v); return v }
func (avx2) xor(a, b VecVirtual) VecVirtual  { v := YMM(); VXORPD(b, a, v); return v }

func (i avx2) total(v []VecVirtual) VecVirtual { return totalOfFour(i.add(v[0], v[1])) }

// totalOfFour adds the lanes of four.
func totalOfFour(four VecVirtual) VecVirtual {
	high, low := XMM(), XMM()
	VEXTRACTF128(U8(1), four, high)
	VADDPD(high, four.AsX(), low)
	VUNPCKHPD(low, low, high)
	VADDSD(high, low, low)
	return low
}
