package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// avx2 is AVX2 with FMA: four lanes.
type avx2 struct{}

func (avx2) suffix() string { return "AVX2" }
func (avx2) lanes() int     { return 4 }

func (avx2) load(m Mem) VecVirtual     { v := YMM(); VMOVUPD(m, v); return v }
func (avx2) store(v VecVirtual, m Mem) { VMOVUPD(v, m) }
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
