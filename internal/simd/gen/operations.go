package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// operations have the same names in both instruction sets, for registers of either width
// and numbers of either size.
type operations struct {
	register func() VecVirtual
	numbers
}

// numbers are float64 or float32: their size in bytes and the instructions
// that have a form for each.
type numbers struct {
	bytes                          int
	move, spreadOne, fusedMultiply func(...Op)
	moveOrZero, moveMasked         func(a, b, c Op) // of AVX-512, of AVX2
}

var (
	double = numbers{8, VMOVUPD, VBROADCASTSD, VFMADD231PD, VMOVUPD_Z, VMASKMOVPD}
	single = numbers{4, VMOVUPS, VBROADCASTSS, VFMADD231PS, VMOVUPS_Z, VMASKMOVPS}
)

func (n numbers) size() int { return n.bytes }

// to returns a new register with the result of an instruction.
func (o operations) to(instruction func(...Op), args ...Op) VecVirtual {
	v := o.register()
	instruction(append(args, v)...)
	return v
}

func (o operations) spread(m Mem) VecVirtual { return o.to(o.spreadOne, m) }
func (o operations) broadcast(bits uint64) VecVirtual {
	return o.to(VBROADCASTSD, constant(bits))
}

func (o operations) add(a, b VecVirtual) VecVirtual  { return o.to(VADDPD, b, a) }
func (o operations) sub(a, b VecVirtual) VecVirtual  { return o.to(VSUBPD, b, a) }
func (o operations) mul(a, b VecVirtual) VecVirtual  { return o.to(VMULPD, b, a) }
func (o operations) div(a, b VecVirtual) VecVirtual  { return o.to(VDIVPD, b, a) }
func (o operations) min(a, b VecVirtual) VecVirtual  { return o.to(VMINPD, b, a) }
func (o operations) max(a, b VecVirtual) VecVirtual  { return o.to(VMAXPD, b, a) }
func (o operations) and(a, b VecVirtual) VecVirtual  { return o.to(VANDPD, b, a) }
func (o operations) or(a, b VecVirtual) VecVirtual   { return o.to(VORPD, b, a) }
func (o operations) xor(a, b VecVirtual) VecVirtual  { return o.to(VXORPD, b, a) }
func (o operations) iadd(a, b VecVirtual) VecVirtual { return o.to(VPADDQ, b, a) }
func (o operations) isub(a, b VecVirtual) VecVirtual { return o.to(VPSUBQ, b, a) }
func (o operations) sqrt(a VecVirtual) VecVirtual    { return o.to(VSQRTPD, a) }
func (o operations) shl(a VecVirtual, n uint8) VecVirtual {
	return o.to(VPSLLQ, U8(n), a)
}
func (o operations) shr(a VecVirtual, n uint8) VecVirtual {
	return o.to(VPSRLQ, U8(n), a)
}

func (o operations) fma(a, b, c VecVirtual) VecVirtual {
	v := o.to(VMOVAPD, c)
	VFMADD231PD(b, a, v)
	return v
}

func (o operations) fnma(a, b, c VecVirtual) VecVirtual {
	v := o.to(VMOVAPD, c)
	VFNMADD231PD(b, a, v)
	return v
}

func (o operations) accumulate(sum, a, b VecVirtual) { o.fusedMultiply(b, a, sum) }
func (o operations) deduct(sum, a, b VecVirtual)     { VFNMADD231PD(b, a, sum) }
func (o operations) addTo(sum, a VecVirtual)         { VADDPD(a, sum, sum) }
