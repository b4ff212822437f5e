package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// control is a branch, a call, or what threads do together.
func (s *scope) control(i *instruction, parts []string, line int) string {
	switch {
	case i.opcode == "bra" || i.opcode == "bra.uni":
		i.count(1, line)
		return fmt.Sprintf("goto l_%s;", name(i.operands[0].name))
	case i.opcode == "ret" || i.opcode == "ret.uni":
		i.count(0, line)
		return "return;"
	case parts[0] == "call":
		return s.call(i, line)
	case i.opcode == "bar.sync" || i.opcode == "barrier.sync" || i.opcode == "bar.warp.sync":
		i.count(1, line) // with a number of threads it is another barrier
		return fmt.Sprintf("%s(%s);", map[bool]string{true: "bar_warp_sync", false: "bar_sync"}[parts[1] == "warp"], s.value(i.operands[0], "u32", line))
	case parts[0] == "shfl":
		return s.shuffle(i, parts, line)
	case slices.Contains([]string{"fence.acq_rel.gpu", "fence.sc.gpu", "fence.acq_rel.sys", "fence.sc.sys", "membar.gl", "membar.sys"}, i.opcode):
		i.count(0, line)
		return "fence();"
	}
	return unknown(i, line)
}

// call is a call of a function of the module, with .param variables.
func (s *scope) call(i *instruction, line int) string {
	if i.opcode != "call" && i.opcode != "call.uni" {
		return unknown(i, line)
	}
	operands := i.operands
	var results, params []operand
	if len(operands) > 0 && operands[0].kind == list {
		results, operands = operands[0].parts, operands[1:]
	}
	if len(operands) == 2 && operands[1].kind == list {
		params = operands[1].parts
	} else if len(operands) != 1 {
		return unknown(i, line)
	}
	f := s.functions[operands[0].name]
	if f == nil || f.Declared || f.Entry {
		fail(line, "there is no function %s", operands[0].name)
	}
	args := []string{"thread"}
	for k, list := range [][]operand{results, params} {
		want := [][]Variable{f.Results, f.Params}[k]
		if len(list) != len(want) {
			fail(line, "%d parameters for the %d of %s", len(list), len(want), f.Name)
		}
		for n, o := range list {
			v, ok := s.memory[o.name]
			if w := want[n]; !ok || v.Space != ofCall || v.Bytes() != w.Bytes() || v.Count != w.Count || v.Align < w.Align {
				fail(line, "%s is not what %s takes as %s", o.name, f.Name, w.Name)
			}
			args = append(args, "m_"+name(o.name))
		}
	}
	return fmt.Sprintf("f_%s(%s);", name(f.Name), strings.Join(args, ", "))
}

// shuffle is shfl.sync.
func (s *scope) shuffle(i *instruction, parts []string, line int) string {
	if len(parts) != 4 || parts[1] != "sync" || !slices.Contains([]string{"up", "down", "bfly", "idx"}, parts[2]) || parts[3] != "b32" {
		return unknown(i, line)
	}
	i.count(5, line)
	to, inside := i.operands[0], ""
	if to.kind == pair {
		to, inside = i.operands[0].parts[0], fmt.Sprintf("set(%s, inside); ", s.target(i.operands[0].parts[1], line))
	}
	args := []string{parts[2], s.value(i.operands[1], "b32", line)}
	for _, o := range i.operands[2:] {
		args = append(args, s.value(o, "u32", line))
	}
	return fmt.Sprintf("{ bool inside; set(%s, shfl_sync(%s, &inside, %d)); %s}", s.target(to, line), strings.Join(args, ", "), line, inside)
}
