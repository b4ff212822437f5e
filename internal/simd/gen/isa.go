package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is one instruction set: vectors of lanes() numbers of size() bytes, and the
// operations of the kernels. Each operation allocates its result. The operations from
// loadSingle on are for float64.
type isa interface {
	suffix() string
	lanes() int
	size() int
	load(m Mem) VecVirtual
	store(v VecVirtual, m Mem)
	spread(m Mem) VecVirtual // one number from memory to all lanes
	// accumulate adds a·b to sum in place.
	accumulate(sum, a, b VecVirtual)
	zero() VecVirtual
	// masked returns, for each vector of `vectors`, the instruction set whose
	// loads and stores touch only the first n lanes of all of them; other lanes
	// load as zero. 0 < n < vectors·lanes().
	masked(n GPVirtual, vectors int) []isa

	loadSingle(m Mem) VecVirtual      // float32 in memory, widened
	storeSingle(v VecVirtual, m Mem)  // rounded to float32
	broadcast(bits uint64) VecVirtual // constant from read-only data
	add(a, b VecVirtual) VecVirtual
	sub(a, b VecVirtual) VecVirtual
	mul(a, b VecVirtual) VecVirtual
	div(a, b VecVirtual) VecVirtual
	min(a, b VecVirtual) VecVirtual
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
	// deduct takes a·b from sum in place, addTo adds a.
	deduct(sum, a, b VecVirtual)
	addTo(sum, a VecVirtual)
	sqrt(a VecVirtual) VecVirtual
	xor(a, b VecVirtual) VecVirtual
	// total adds eight lanes, given in vectors, in a fixed tree: i with i+4, i
	// with i+2, then 0 with 1; the result is in lane 0.
	total(v []VecVirtual) VecVirtual
	// totals are four totals in half or all of a register.
	totals(v [4][]VecVirtual) VecVirtual
	// transposed takes as many vectors as they have lanes: element k of result j is
	// element j of vector k.
	transposed(v []VecVirtual) []VecVirtual
	// scatter stores element k at at(k).
	scatter(v VecVirtual, at func(k int) Mem)
	// pick returns yes where a < b (le: a <= b; unordered: a or b is NaN), no elsewhere.
	pick(p predicate, a, b, yes, no VecVirtual) VecVirtual
	// replace is pick with in for no, in place.
	replace(in VecVirtual, p predicate, a, b, yes VecVirtual)
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

// tailMask is as many words of ones, then as many of zeros: read from word
// words-n, its first n words are ones.
func tailMask(words, bytes int) Mem {
	name := fmt.Sprintf("tail%dx%d", words, bytes)
	if m, ok := tables[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	half := words * bytes
	for at := 0; at < half; at += 8 {
		DATA(at, U64(math.MaxUint64))
	}
	for at := half; at < 2*half; at += 8 { // the assembler wants them in order
		DATA(at, U64(0))
	}
	tables[name] = m
	return m
}

// tables are those in read-only data, by name.
var tables = map[string]Mem{}
