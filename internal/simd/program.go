package simd

import (
	"fmt"
	"slices"
	"unsafe"
)

//go:generate go run -C gen . -part program -out ../program_amd64.s -stubs ../program_amd64.go -pkg simd

// Spaces is the number of arrays that a program may use.
const Spaces = 8

// A Place is where an operand starts: in one of the arrays of a program, at an
// element (of lanes) or at a number.
type Place struct {
	Space uint8
	At    int32
}

// An Instruction is one loop of a program: an operation on Count elements that
// lie together, each a vector of lanes.
type Instruction struct {
	Op          Opcode
	Count       int
	To, A, B, C Place
	Groups      int // of OpDots, OpGroupDots, OpGather and OpCombine
}

// A Program runs instructions one after the other in one call, because calls cost as much
// as loops over a hundred lanes. Results have the same bits on every machine.
type Program struct {
	list  []Instruction
	by    *interpreter
	coded []coded // for the interpreter in assembly, else nil
	needs []need  // of each space that is used
}

// A need is the size that a space must have: elements of lanes, and numbers.
type need struct{ space, vectors, numbers int }

// coded is an instruction in the form that the interpreter of gen/program.go reads.
type coded struct {
	code  uintptr
	at    [4]int32
	count int32
	space [4]uint8
	more  int32
	_     int32
}

// NewProgram prepares instructions for this machine.
func NewProgram(list []Instruction) *Program { return newProgram(interpreters()[0], list) }

// An interpreter runs programs with one instruction set; codes is nil in the plain one.
type interpreter struct {
	of    *kernels
	codes []uintptr
}

func newProgram(by *interpreter, list []Instruction) *Program {
	p := &Program{list: list, by: by, needs: make([]need, Spaces)}
	for s := range p.needs {
		p.needs[s].space = s
	}
	for _, in := range list {
		if in.Op == opStop || in.Op >= opcodes || in.Count < 1 || grouped(in.Op) && in.Groups < 1 {
			panic(fmt.Sprintf("simd: instruction %+v", in))
		}
		places := [4]Place{in.To, in.A, in.B, in.C}
		for k, kind := range kindsOf(in.Op) {
			p.need(places[k], kind, in)
		}
		if by.codes != nil {
			c := coded{code: by.codes[in.Op], count: int32(in.Count), more: int32(in.Groups)}
			for k, place := range places {
				c.at[k], c.space[k] = place.At, place.Space
			}
			p.coded = append(p.coded, c)
		}
	}
	if by.codes != nil {
		p.coded = append(p.coded, coded{code: by.codes[opStop]})
	}
	p.needs = slices.DeleteFunc(p.needs, func(n need) bool { return n.vectors == 0 && n.numbers == 0 })
	return p
}

// need notes the part of a space that an operand takes.
func (p *Program) need(place Place, k kind, in Instruction) {
	at, n := int(place.At), &p.needs[place.Space]
	switch k {
	case vectors:
		n.vectors = max(n.vectors, at+in.Count)
	case vector:
		n.vectors = max(n.vectors, at+1)
	case groups:
		n.vectors = max(n.vectors, at+in.Groups)
	case number:
		n.numbers = max(n.numbers, at+1)
	case numbers:
		count := in.Count * max(1, in.Groups)
		if in.Op == OpCombine {
			count = 1 + (in.Count-1)*in.Groups
		}
		n.numbers = max(n.numbers, at+count)
	}
}

// Run executes the program. Element i of an array starts i·pitch numbers from its start,
// and has lanes numbers. OpSquares, OpGather, OpScale, OpCombine and sums over lanes take
// a pitch that is a multiple of eight. The caller checks the blocks of OpGather.
func (p *Program) Run(spaces *[Spaces][]float64, pitch int) {
	var start [Spaces]*float64
	for _, n := range p.needs {
		x := spaces[n.space]
		if len(x) < n.vectors*pitch || len(x) < n.numbers {
			panic(fmt.Sprintf("simd: a program of %d elements of %d lanes and %d numbers in an array of %d", n.vectors, pitch, n.numbers, len(x)))
		}
		start[n.space] = unsafe.SliceData(x)
	}
	if p.coded == nil {
		for i := range p.list {
			p.list[i].run(spaces, pitch)
		}
		return
	}
	p.by.enter((*byte)(unsafe.Pointer(&p.coded[0])), (*byte)(unsafe.Pointer(&start)), pitch)
}
