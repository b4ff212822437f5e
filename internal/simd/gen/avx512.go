package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// avx512 is AVX-512 F and DQ: eight lanes. With a mask, loads and stores are
// confined to its lanes.
type avx512 struct{ mask OpmaskVirtual }

func (avx512) suffix() string { return "AVX512" }
func (avx512) lanes() int     { return 8 }

func (i avx512) load(m Mem) VecVirtual {
	v := ZMM()
	if i.mask != nil {
		VMOVUPD_Z(m, i.mask, v)
	} else {
		VMOVUPD(m, v)
	}
	return v
}

func (i avx512) loadSingle(m Mem) VecVirtual {
	v := ZMM()
	if i.mask != nil {
		VCVTPS2PD_Z(m, i.mask, v)
	} else {
		VCVTPS2PD(m, v)
	}
	return v
}

func (i avx512) store(v VecVirtual, m Mem) {
	if i.mask != nil {
		VMOVUPD(v, i.mask, m)
	} else {
		VMOVUPD(v, m)
	}
}

func (avx512) masked(n GPVirtual, vectors int) []isa {
	bits := GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(n, bits, bits)
	var out []isa
	for k := range vectors {
		if k > 0 {
			SHRQ(Imm(8), bits)
		}
		i := avx512{K()}
		KMOVB(bits.As32(), i.mask)
		out = append(out, i)
	}
	return out
}

func (avx512) zero() VecVirtual { v := ZMM(); VPXORQ(v, v, v); return v }
func (avx512) broadcast(bits uint64) VecVirtual {
	v := ZMM()
	VBROADCASTSD(constant(bits), v)
	return v
}
func (avx512) spread(m Mem) VecVirtual { v := ZMM(); VBROADCASTSD(m, v); return v }

func (avx512) add(a, b VecVirtual) VecVirtual  { v := ZMM(); VADDPD(b, a, v); return v }
func (avx512) sub(a, b VecVirtual) VecVirtual  { v := ZMM(); VSUBPD(b, a, v); return v }
func (avx512) mul(a, b VecVirtual) VecVirtual  { v := ZMM(); VMULPD(b, a, v); return v }
func (avx512) div(a, b VecVirtual) VecVirtual  { v := ZMM(); VDIVPD(b, a, v); return v }
func (avx512) max(a, b VecVirtual) VecVirtual  { v := ZMM(); VMAXPD(b, a, v); return v }
func (avx512) and(a, b VecVirtual) VecVirtual  { v := ZMM(); VPANDQ(b, a, v); return v }
func (avx512) or(a, b VecVirtual) VecVirtual   { v := ZMM(); VPORQ(b, a, v); return v }
func (avx512) iadd(a, b VecVirtual) VecVirtual { v := ZMM(); VPADDQ(b, a, v); return v }
func (avx512) isub(a, b VecVirtual) VecVirtual { v := ZMM(); VPSUBQ(b, a, v); return v }
func (avx512) shl(a VecVirtual, n uint8) VecVirtual {
	v := ZMM()
	VPSLLQ(U8(n), a, v)
	return v
}
func (avx512) shr(a VecVirtual, n uint8) VecVirtual {
	v := ZMM()
	VPSRLQ(U8(n), a, v)
	return v
}
func (avx512) fma(a, b, c VecVirtual) VecVirtual {
	v := ZMM()
	VMOVAPD(c, v)
	VFMADD231PD(b, a, v)
	return v
}
func (avx512) fnma(a, b, c VecVirtual) VecVirtual {
	v := ZMM()
	VMOVAPD(c, v)
	VFNMADD231PD(b, a, v)
	return v
}
func (avx512) pick(p predicate, a, b, yes, no VecVirtual) VecVirtual {
	mask, v := K(), ZMM()
	VCMPPD(U8(p), b, a, mask)
	VBLENDMPD(yes, no, mask, v)
	return v
}

func (avx512) accumulate(sum, a, b VecVirtual) { VFMADD231PD(b, a, sum) }
func (avx512) addTo(sum, a VecVirtual)         { VADDPD(a, sum, sum) }
func (avx512) sqrt(a VecVirtual) VecVirtual    { v := ZMM(); VSQRTPD(a, v); return v }
func (avx512) xor(a, b VecVirtual) VecVirtual  { v := ZMM(); VPXORQ(b, a, v); return v }

func (avx512) total(v []VecVirtual) VecVirtual {
	high, four := YMM(), YMM()
	VEXTRACTF64X4(U8(1), v[0], high)
	VADDPD(high, v[0].AsY(), four)
	return totalOfFour(four)
}
