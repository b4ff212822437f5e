package ptx

import (
	"fmt"
	"strings"
)

// TranslateClocked is Translate with a clock for each thread, to be compiled with -DCLOCK: it
// estimates when an instruction begins, if no other warp is in the way. A thread begins its
// instructions in order, each when its operands are known; machine/clock.h has what memory
// and barriers take. Round numbers near those of an H100 (Luo et al. 2024, arXiv:2402.13499).
// The estimate leaves out the fetching of instructions and the widths of all units, so it
// shows how long a chain of dependent instructions is, not how fast a busy card is.
func TranslateClocked(m *Module, file string) (string, error) { return translateModule(m, file, true) }

// An opcodeCost is the cycles until the next instruction may begin, and until the result is
// known; machine/clock.h has the times of results that memory gives.
type opcodeCost struct {
	issue, result int
	ofMemory      bool
}

func costOf(i *instruction) opcodeCost {
	parts := strings.Split(i.opcode, ".")
	kind := parts[len(parts)-1]
	double := kind == "f64" || parts[0] == "cvt" && strings.Contains(i.opcode, "f64")
	halves := i.opcode == "cvt.u32.u64" || i.opcode == "shr.u64" && len(i.operands) == 3 && i.operands[2].bits == 32
	switch op := parts[0]; {
	case halves: // two registers hold 64 bits
		return opcodeCost{}
	case op == "st" && parts[1] == "param":
		return opcodeCost{}
	case op == "ld" && parts[1] == "param", op == "mov", op == "cvta", op == "selp" && double:
		return opcodeCost{issue: 1, result: 1}
	case op == "ld", op == "atom":
		return opcodeCost{issue: 1, ofMemory: true}
	case op == "bra", op == "call", op == "ret":
		return opcodeCost{issue: 10}
	case op == "shfl":
		return opcodeCost{1, 25, false}
	case double && (op == "div" || op == "rcp" || op == "sqrt"):
		return opcodeCost{1, 150, false}
	case op == "div" || op == "rem":
		return opcodeCost{1, map[bool]int{true: 120, false: 40}[strings.HasSuffix(kind, "64")], false}
	case double:
		return opcodeCost{1, 10, false}
	}
	return opcodeCost{1, 6, false}
}

// clock is what goes before an instruction and after it.
func (s *scope) clock(i *instruction) (before, after string) {
	if !s.clocked {
		return "", ""
	}
	var b, a strings.Builder
	op, _, _ := strings.Cut(i.opcode, ".")
	for _, r := range s.registersOf(operand{name: i.guard}) {
		fmt.Fprintf(&b, "until(clock, t_%s); ", r)
	}
	cost := costOf(i)
	for k, o := range i.operands {
		sets := k == 0 && op != "st" && op != "red" && op != "bra" && op != "bar"
		for _, r := range s.registersOf(o) {
			switch {
			case op == "call":
			case !sets:
				fmt.Fprintf(&b, "until(clock, t_%s); ", r)
			case cost.ofMemory:
				fmt.Fprintf(&a, " t_%s = clock + ofMemory;", r)
			default:
				fmt.Fprintf(&a, " t_%s = clock + %d;", r, cost.result)
			}
		}
	}
	fmt.Fprintf(&b, "clock += %d; ", cost.issue)
	return b.String(), a.String()
}

// registersOf are the registers of an operand.
func (s *scope) registersOf(o operand) (list []string) {
	if s.registers[o.name] != "" {
		list = append(list, name(o.name))
	}
	for _, p := range o.parts {
		list = append(list, s.registersOf(p)...)
	}
	return list
}
