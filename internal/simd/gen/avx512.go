package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// avx512 is AVX-512 F and DQ: registers of 64 bytes. With a mask, loads and
// stores are confined to its lanes.
type avx512 struct {
	operations
	mask OpmaskVirtual
}

func newAVX512(n numbers) avx512 { return avx512{operations: operations{ZMM, n}} }

func (avx512) suffix() string { return "AVX512" }
func (i avx512) lanes() int   { return 64 / i.bytes }

func (i avx512) load(m Mem) VecVirtual       { return i.confined(i.move, i.moveOrZero, m) }
func (i avx512) loadSingle(m Mem) VecVirtual { return i.confined(VCVTPS2PD, VCVTPS2PD_Z, m) }

// confined loads by one instruction, or by its form with a mask.
func (i avx512) confined(whole func(...Op), masked func(a, b, c Op), m Mem) VecVirtual {
	if i.mask == nil {
		return i.to(whole, m)
	}
	v := i.register()
	masked(m, i.mask, v)
	return v
}

func (i avx512) store(v VecVirtual, m Mem) { i.keep(i.move, v, m) }

func (i avx512) storeSingle(v VecVirtual, m Mem) {
	half := YMM()
	VCVTPD2PS(v, half)
	i.keep(VMOVUPS, half, m)
}

// keep stores by an instruction, with the mask where there is one.
func (i avx512) keep(instruction func(...Op), v VecVirtual, m Mem) {
	if i.mask == nil {
		instruction(v, m)
	} else {
		instruction(v, i.mask, m)
	}
}

func (i avx512) masked(n GPVirtual, vectors int) []isa {
	bits := GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(n, bits, bits)
	var out []isa
	for k := range vectors {
		if k > 0 {
			SHRQ(Imm(uint64(i.lanes())), bits)
		}
		i.mask = K()
		if i.lanes() == 8 {
			KMOVB(bits.As32(), i.mask)
		} else {
			KMOVW(bits.As32(), i.mask)
		}
		out = append(out, i)
	}
	return out
}

func (i avx512) zero() VecVirtual { v := ZMM(); VPXORQ(v, v, v); return v }

// pick overwrites a copy of no: for avo an instruction with a mask also reads the
// register that it sets, so the new register of a blend would be in use from the start of
// the function.
func (i avx512) pick(p predicate, a, b, yes, no VecVirtual) VecVirtual {
	mask, v := K(), i.to(VMOVAPD, no)
	VCMPPD(U8(p), b, a, mask)
	VMOVAPD(yes, mask, v)
	return v
}

func (avx512) replace(in VecVirtual, p predicate, a, b, yes VecVirtual) {
	mask := K()
	VCMPPD(U8(p), b, a, mask)
	VMOVAPD(yes, mask, in)
}

func (avx512) total(v []VecVirtual) VecVirtual {
	high, four := YMM(), YMM()
	VEXTRACTF64X4(U8(1), v[0], high)
	VADDPD(high, v[0].AsY(), four)
	return totalOfFour(four)
}

func (i avx512) totals(v [4][]VecVirtual) VecVirtual {
	const low, high, even, odd = 0x44, 0xee, 0x88, 0xdd // quarters of two registers
	fours := func(a, b VecVirtual) VecVirtual {
		return i.add(i.to(VSHUFF64X2, U8(low), b, a), i.to(VSHUFF64X2, U8(high), b, a))
	}
	a, b := fours(v[0][0], v[2][0]), fours(v[1][0], v[3][0])
	twos, rest := i.add(i.to(VSHUFF64X2, U8(even), b, a), i.to(VSHUFF64X2, U8(odd), b, a)), YMM()
	VEXTRACTF64X4(U8(1), twos, rest)
	total := YMM()
	VHADDPD(rest, twos.AsY(), total)
	return total
}

func (i avx512) transposed(v []VecVirtual) []VecVirtual {
	var low, high [4]VecVirtual // even and odd elements of vectors 2k and 2k+1
	for k := range low {
		low[k] = i.to(VUNPCKLPD, v[2*k+1], v[2*k])
		high[k] = i.to(VUNPCKHPD, v[2*k+1], v[2*k])
	}
	const even, odd = 0x88, 0xdd // quarters of two registers
	out := make([]VecVirtual, 8)
	for k, pairs := range [][4]VecVirtual{low, high} {
		for j, of := range []uint64{even, odd} {
			a, b := i.to(VSHUFF64X2, U8(of), pairs[1], pairs[0]), i.to(VSHUFF64X2, U8(of), pairs[3], pairs[2])
			out[k+2*j] = i.to(VSHUFF64X2, U8(even), b, a)
			out[k+2*j+4] = i.to(VSHUFF64X2, U8(odd), b, a)
		}
	}
	return out
}

func (avx512) scatter(v VecVirtual, at func(k int) Mem) {
	for k := range 4 {
		pair := XMM()
		VEXTRACTF64X2(U8(k), v, pair)
		VMOVLPD(pair, at(2*k))
		VMOVHPD(pair, at(2*k+1))
	}
}
