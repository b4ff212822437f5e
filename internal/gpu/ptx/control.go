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
