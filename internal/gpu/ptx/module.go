// Package ptx translates PTX, NVIDIA's assembly language for virtual machines, to C++,
// one statement for each instruction, so that tests on a machine without a card run the
// text that a driver gets: see docs/design/gpu.md. It follows NVIDIA's manual, the PTX
// ISA 7.0. An unknown instruction is an error that names the line. So is one whose result
// the manual leaves open, such as a sum that may be contracted with a product.
//
// The directory machine has what the C++ needs: arithmetic, memory in its spaces
// with checks, and threads, which are the fibers of internal/gpu/kernel/fibers.h.
package ptx

// A Module is a parsed PTX file.
type Module struct {
	Target    string     // as sm_70
	Variables []Variable // .const, .global and .shared ones outside functions
	Functions []*Function
}

// A Variable is memory with a name: parameters too.
type Variable struct {
	Line  int
	Space string // const, global, shared, local, param
	Name  string
	Type  string // of an element, as b32
	Align int    // bytes
	Count int    // elements; 0: a single one, which is no array
	Init  []uint64
}

// Bytes is the variable's size.
func (v Variable) Bytes() int { return max(v.Count, 1) * sizes[v.Type] }

// A Function is a .func, or an .entry, which is a kernel.
type Function struct {
	Line            int
	Name            string
	Entry           bool
	Results, Params []Variable
	MaxThreads      int  // of a block, by .maxntid; 0: any
	Declared        bool // has no body
	Body            []statement
}

// sizes are the bytes of PTX's types.
var sizes = map[string]int{
	"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
	"b64": 8, "u64": 8, "s64": 8, "f64": 8, "pred": 1,
}

// A statement is a label, the beginning or end of a scope, a declaration of
// registers or of memory, or an instruction.
type statement struct {
	line        int
	label       string
	scope       string // { or }
	registers   []register
	variable    *Variable
	instruction *instruction
}

// A register declares one register, or with count > 0 the registers name0 to name(count-1).
type register struct {
	name, kind string
	count      int
}

// An instruction is an opcode with operands. It runs where guard is true, or, with unless,
// where guard is false; without a guard it always runs.
type instruction struct {
	guard    string
	unless   bool
	opcode   string // with all modifiers
	operands []operand
}

// The kinds of operands.
type operandKind int

const (
	word    operandKind = iota // a register, or the name of a variable, function or label
	integer                    // bits
	single                     // bits of an f32
	double                     // bits of an f64
	address                    // [name+offset], or [offset]
	vector                     // {a, b}
	list                       // (a, b)
	pair                       // a|b
)

type operand struct {
	kind   operandKind
	name   string
	bits   uint64
	offset int64
	parts  []operand
}
