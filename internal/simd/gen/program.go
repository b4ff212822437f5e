package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The interpreter of programs. An instruction is 40 bytes: the address of the code that
// runs it; where destination and operands start, as elements (four of 32 bits); the
// number of elements; the spaces of the four (one byte each); and one more number. Each
// code ends with a jump to the code of the next instruction.
const (
	startsAt         = 8
	countAt          = 24
	spacesAt         = 28
	moreAt           = 32
	instructionBytes = 40
)

// Registers that all codes share.
var (
	current = RSI // the instruction
	spaces  = R9  // table of the spaces' addresses
	pitch   = RDX // bytes from one element's lanes to the next
)

// places are the registers for the addresses of destination and operands.
var places = [4]GPPhysical{RAX, RBX, RCX, R8}

// A code of the interpreter: its name, in the order of the constants of package
// simd, and what emits it.
type code struct {
	name, doc string
	emit      func(i isa)
}

// program emits the interpreter: how it is entered, the table of its codes, and
// the codes.
func program(i isa) {
	TEXT("run"+i.suffix(), NOSPLIT, "func(first, spaces *byte, pitch int)")
	Pragma("noescape")
	Doc("Runs instructions from the first on. pitch is in numbers.")
	Load(Param("first"), current)
	Load(Param("spaces"), spaces)
	Load(Param("pitch"), pitch)
	SHLQ(Imm(3), pitch)
	jump()

	list := codes()
	TEXT("codes"+i.suffix(), NOSPLIT, fmt.Sprintf("func(table *[%d]uintptr)", len(list)))
	Pragma("noescape")
	Doc("Sets table to the addresses of the codes.")
	table, address := Load(Param("table"), GP64()).(GPVirtual), GP64()
	for k, c := range list {
		LEAQ(Mem{Symbol: Symbol{Name: "·" + c.name + "Code" + i.suffix()}, Base: StaticBase}, address)
		MOVQ(address, Mem{Base: table, Disp: 8 * k})
	}
	RET()

	for _, c := range list {
		TEXT(c.name+"Code"+i.suffix(), NOSPLIT, "func()")
		Doc(c.doc)
		c.emit(i)
	}
}

// next jumps to the next instruction.
func next() {
	ADDQ(Imm(instructionBytes), current)
	jump()
}

// jump runs the current instruction. It is the end of a function; what other
// codes share stays in its registers.
func jump() {
	MOVQ(Mem{Base: current}, R11)
	Instruction(&ir.Instruction{
		Opcode: "JMP", Operands: []Op{R11}, IsTerminal: true,
		Inputs: []Op{R11, current, spaces, pitch},
	})
}

// space sets a register to where the space of place k starts, and R12 to the
// element that the place starts with.
func space(k int) GPPhysical {
	to := places[k]
	MOVBQZX(Mem{Base: current, Disp: spacesAt + k}, R11)
	MOVQ(Mem{Base: spaces, Index: R11, Scale: 8}, to)
	MOVLQSX(Mem{Base: current, Disp: startsAt + 4*k}, R12)
	return to
}

// vectors is the address of place k, elements of lanes.
func vectors(k int) GPPhysical {
	to := space(k)
	IMULQ(pitch, R12)
	ADDQ(R12, to)
	return to
}

// scalars is the address of place k, numbers one after the other.
func scalars(k int) GPPhysical {
	to := space(k)
	LEAQ(Mem{Base: to, Index: R12, Scale: 8}, to)
	return to
}

// elements loads the number of elements.
func elements() GPPhysical {
	MOVLQSX(Mem{Base: current, Disp: countAt}, R10)
	return R10
}

// over runs body for all lanes of all elements, eight at a time, and once more with masks
// for the rest. at is the address of a vector of place k: the k-th of the pointers.
func over(i isa, pointers []GPPhysical, body func(i isa, at func(k int) Mem)) {
	bytes := elements()
	IMULQ(pitch, bytes)
	MOVQ(bytes, R13)
	ANDQ(Imm(63), R13)
	SUBQ(R13, bytes)
	for _, p := range pointers {
		ADDQ(bytes, p)
	}
	top, tail, done := label("loop"), label("tail"), label("done")
	NEGQ(bytes)
	JZ(LabelRef(tail))
	each := func(v isa, vector int) {
		body(v, func(k int) Mem {
			return Mem{Base: pointers[k], Index: bytes, Scale: 1, Disp: 8 * vector * i.lanes()}
		})
	}
	Label(top)
	for vector := range 8 / i.lanes() {
		each(i, vector)
	}
	ADDQ(Imm(64), bytes)
	JNZ(LabelRef(top))
	Label(tail)
	TESTQ(R13, R13)
	JZ(LabelRef(done))
	rest := GP64()
	MOVQ(R13, rest)
	SHRQ(Imm(3), rest)
	for vector, confined := range i.masked(rest, 8/i.lanes()) {
		each(confined, vector)
	}
	Label(done)
	next()
}
