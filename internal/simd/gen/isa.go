package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is one instruction set: vectors of lanes() float64 and the operations
// the kernels are written in. Each operation allocates its result.
type isa interface {
	suffix() string
	lanes() int
	load(m Mem) VecVirtual
	store(v VecVirtual, m Mem)
	broadcast(bits uint64) VecVirtual // constant from read-only data
	spread(m Mem) VecVirtual          // one float64 from memory to all lanes

	add(a, b VecVirtual) VecVirtual
	sub(a, b VecVirtual) VecVirtual
	mul(a, b VecVirtual) VecVirtual
	div(a, b VecVirtual) VecVirtual
	max(a, b VecVirtual) VecVirtual
	and(a, b VecVirtual) VecVirtual
	or(a, b VecVirtual) VecVirtual
	iadd(a, b VecVirtual) VecVirtual // 64-bit integers
	isub(a, b VecVirtual) VecVirtual
	shl(a VecVirtual, n uint8) VecVirtual
	shr(a VecVirtual, n uint8) VecVirtual
	// fma returns a·b + c, fnma returns c − a·b; c is consumed.
	fma(a, b, c VecVirtual) VecVirtual
	fnma(a, b, c VecVirtual) VecVirtual
	// pick returns yes where a < b (le: a <= b; unordered: a or b is NaN), no elsewhere.
	pick(p predicate, a, b, yes, no VecVirtual) VecVirtual
}

type predicate uint8

const (
	less      predicate = 0x11 // LT_OQ
	lessEqual predicate = 0x12 // LE_OQ
	unordered predicate = 0x03 // UNORD_Q
)

// c is the constant with this value in every lane.
func c(i isa, v float64) VecVirtual { return i.broadcast(math.Float64bits(v)) }

// constant places a 64-bit pattern in read-only data once and refers to it.
var constants = map[uint64]Mem{}

func constant(bits uint64) Mem {
	if m, ok := constants[bits]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("c%016x", bits), RODATA|NOPTR)
	DATA(0, U64(bits))
	constants[bits] = m
	return m
}
