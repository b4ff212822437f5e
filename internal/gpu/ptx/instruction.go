package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// instruction is one as C++.
func (s *scope) instruction(i *instruction, line int) string {
	if f, ok := s.forms[i.opcode]; ok {
		return s.compute(f, i, line)
	}
	parts := strings.Split(i.opcode, ".")
	switch parts[0] {
	case "mov":
		return s.move(i, parts, line)
	case "cvt":
		return s.convert(i, parts, line)
	case "cvta":
		return s.convertAddress(i, parts, line)
	case "ld", "st":
		return s.access(i, parts, line)
	case "atom", "red":
		return s.atomic(i, parts, line)
	}
	return s.control(i, parts, line)
}

// unknown ends the translation.
func unknown(i *instruction, line int) string {
	fail(line, "%s is not translated", i.opcode)
	return ""
}

// count ends the translation unless there are n operands.
func (i *instruction) count(n, line int) {
	if len(i.operands) != n {
		fail(line, "%s with %d operands", i.opcode, len(i.operands))
	}
}

func (s *scope) compute(f form, i *instruction, line int) string {
	i.count(len(f.types), line)
	values := make([]string, len(f.types)-1)
	for k := range values {
		values[k] = s.value(i.operands[k+1], f.types[k+1], line)
	}
	function := f.function
	if word, rest, _ := strings.Cut(function, "<"); slices.Contains([]string{"and", "or", "xor", "not"}, word) { // words of C++
		function = word + "_<" + rest
	}
	return fmt.Sprintf("set(%s, %s(%s));", s.target(i.operands[0], line), function, strings.Join(values, ", "))
}

// target is a register that is set.
func (s *scope) target(o operand, line int) string {
	if o.kind != word || s.registers[o.name] == "" {
		fail(line, "%s is no register", o.name)
	}
	return "v_" + name(o.name)
}

// value is an operand as a value of a type, which has the size of its register.
func (s *scope) value(o operand, kind string, line int) string {
	switch o.kind {
	case integer:
		switch {
		case kind == "f32" || kind == "f64":
			fail(line, "a whole number where a float is expected")
		case kind == "pred":
			return fmt.Sprint(o.bits != 0)
		}
		if width := 8 * sizes[kind]; width < 64 && int64(o.bits) != int64(o.bits)<<(64-width)>>(64-width) && o.bits>>width != 0 {
			fail(line, "%d does not fit into %s", int64(o.bits), kind)
		}
		return fmt.Sprintf("(%s)%#xull", kind, o.bits)
	case single, double:
		if want := map[operandKind]string{single: "f32", double: "f64"}[o.kind]; kind != want {
			fail(line, "a number of type %s where %s is expected", want, kind)
		}
		return fmt.Sprintf("as<%s>((u%d)%#xull)", kind, 8*sizes[kind], o.bits)
	case word:
		if special, ok := specialRegisters[o.name]; ok {
			return fmt.Sprintf("as<%s>((u32)%s)", kind, special)
		}
		have := s.registers[o.name]
		if have == "" {
			fail(line, "%s is no register", o.name)
		}
		if sizes[have] != sizes[kind] || (have == "pred") != (kind == "pred") {
			fail(line, "%s is of type %s, not %s", o.name, have, kind)
		}
		return fmt.Sprintf("as<%s>(v_%s)", kind, name(o.name))
	}
	fail(line, "a list of operands where %s is expected", kind)
	return ""
}

// specialRegisters are a thread's indices and sizes. Blocks and grids have one dimension.
var specialRegisters = map[string]string{
	"%tid.x": "thread.tid", "%tid.y": "0", "%tid.z": "0",
	"%ntid.x": "blockThreads", "%ntid.y": "1", "%ntid.z": "1",
	"%ctaid.x": "thread.ctaid", "%ctaid.y": "0", "%ctaid.z": "0",
	"%nctaid.x": "thread.nctaid", "%nctaid.y": "1", "%nctaid.z": "1",
	"%laneid": "(thread.tid % warpSize)", "WARP_SZ": "warpSize",
}
