package simd

import (
	"fmt"
	"unsafe"
)

//go:generate go run -C gen . -part program -out ../program_amd64.s -stubs ../program_amd64.go -pkg simd

// Spaces is how many arrays a program may use.
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
	Groups      int // OpGroupDots
}

// A Program runs instructions one after the other in one call, which spares
// what calls cost beside loops over a hundred lanes. Results have the same bits
// on every machine.
type Program struct {
	list   []Instruction
	by     *interpreter
	coded  []coded     // for the interpreter in assembly, else nil
	vector [Spaces]int // elements that every space must have
	number [Spaces]int // numbers likewise
}

// coded is an instruction as the interpreter reads it: see gen/program.go.
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

// An interpreter is what one instruction set runs programs with; codes is nil
// in the plain one.
type interpreter struct {
	of    *kernels
	codes []uintptr
}

func newProgram(by *interpreter, list []Instruction) *Program {
	p := &Program{list: list, by: by}
	for _, in := range list {
		if in.Op == opStop || in.Op >= opcodes || in.Count < 1 || in.Op == OpGroupDots && in.Groups < 1 {
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
	return p
}

// need notes how much of a space an operand takes.
func (p *Program) need(place Place, k kind, in Instruction) {
	at, s := int(place.At), place.Space
	switch k {
	case vectors:
		p.vector[s] = max(p.vector[s], at+in.Count)
	case vector:
		p.vector[s] = max(p.vector[s], at+1)
	case number:
		p.number[s] = max(p.number[s], at+1)
	case numbers: // of a table the caller answers for more
		p.number[s] = max(p.number[s], at+in.Count*max(1, in.Groups))
	}
}

// Run executes the program. Element i of an array starts pitch numbers times i
// from its start; each has `lanes` lanes in use, lanes <= pitch. OpSquares,
// OpGather and OpScale take a pitch that is a multiple of eight, and what lies between is
// computed like the lanes in use, but for sums over lanes. The table of
// OpGather is the caller's to check, as its blocks are.
func (p *Program) Run(spaces *[Spaces][]float64, pitch, lanes int) {
	var start [Spaces]*float64
	for s, x := range spaces {
		if len(x) < p.vector[s]*pitch || len(x) < p.number[s] {
			panic(fmt.Sprintf("simd: a program of %d elements of %d lanes and %d numbers in an array of %d", p.vector[s], pitch, p.number[s], len(x)))
		}
		start[s] = unsafe.SliceData(x)
	}
	if p.coded == nil {
		for i := range p.list {
			p.list[i].run(spaces, pitch, lanes)
		}
		return
	}
	p.by.enter((*byte)(unsafe.Pointer(&p.coded[0])), (*byte)(unsafe.Pointer(&start)), pitch, lanes)
}
