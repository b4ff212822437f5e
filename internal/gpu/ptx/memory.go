package ptx

import (
	"fmt"
	"strings"
)

// spaces are the functions of machine/memory.h that check an address.
var spaces = map[string]string{
	"": "anywhere", "shared": "inShared", "local": "inLocal", "const": "inConst", "global": "inGlobal", "param": "inParam",
}

// memoryAt is a checked pointer to n elements.
func (s *scope) memoryAt(o operand, space, kind string, n, line int) string {
	if o.kind != address {
		fail(line, "an address is expected")
	}
	text, of := s.place(o)
	switch {
	case of != "" && of != space && !(of == "global" && space == ""):
		fail(line, "%s is in .%s", o.name, of)
	case of == "" && o.name == "":
		text = fmt.Sprintf("%dull", uint64(o.offset))
	case of == "":
		text = fmt.Sprintf("%s + %dull", s.value(operand{name: o.name}, "u64", line), uint64(o.offset))
	}
	return fmt.Sprintf("%s<%s, %d>(thread, %s)", spaces[space], kind, n, text)
}

// access is ld or st.
func (s *scope) access(i *instruction, parts []string, line int) string {
	i.count(2, line)
	loads := parts[0] == "ld"
	rest := parts[1:]
	take := func(words ...string) string {
		for _, w := range words {
			if len(rest) > 0 && rest[0] == w {
				rest = rest[1:]
				return w
			}
		}
		return ""
	}
	take("weak")
	strong := take("volatile", "relaxed", map[bool]string{true: "acquire", false: "release"}[loads])
	if strong != "" && strong != "volatile" && take("gpu", "sys") == "" {
		return unknown(i, line)
	}
	space := take("shared", "local", "const", "global", "param")
	n := map[string]int{"": 1, "v2": 2, "v4": 4}[take("v2", "v4")]
	if len(rest) != 1 || sizes[rest[0]] == 0 || rest[0] == "pred" || !loads && space == "const" {
		return unknown(i, line)
	}
	kind, at, registers := rest[0], i.operands[1], i.operands[0]
	if !loads {
		at, registers = registers, at
	}
	elements := []operand{registers}
	if registers.kind == vector {
		elements = registers.parts
	}
	if len(elements) != n {
		fail(line, "%s of %d registers", i.opcode, len(elements))
	}
	if v := s.memory[at.name]; v.Space == ofCall && space == "param" {
		return s.accessParam(loads, v, at.offset, kind, elements, line)
	} else if space == "param" && !loads {
		return unknown(i, line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{ auto* at = %s; ", s.memoryAt(at, space, kind, n, line))
	for k, o := range elements {
		place := fmt.Sprintf("at[%d]", k)
		if loads {
			b.WriteString(load(space, strong, kind, k, place))
		} else if value := s.lowOf(o, kind, line); strong == "" {
			fmt.Fprintf(&b, "%s = %s; ", place, value)
		} else {
			fmt.Fprintf(&b, "%srelaxedStore(&%s, %s); ", order(strong, "release", place), place, value)
		}
	}
	if loads {
		for k, o := range elements {
			fmt.Fprintf(&b, "extend(%s, x%d); ", s.target(o, line), k)
		}
	}
	return b.String() + "}"
}

// load sets xk to what is at a place. Threads of a block wait at barriers, not for a number in
// shared memory.
func load(space, strong, kind string, k int, place string) string {
	switch {
	case strong == "":
		return fmt.Sprintf("%s x%d = %s; ", kind, k, place)
	case space == "shared":
		return fmt.Sprintf("%s x%d = __atomic_load_n(&%s, __ATOMIC_RELAXED); ", kind, k, place)
	}
	return fmt.Sprintf("%s x%d = relaxedLoad(&%s); strongly(%v, x%d); %s", kind, k, place, strong == "acquire", k, order(strong, "acquire", place))
}

// order is what releases or acquires a place, if the instruction does.
func order(strong, what, place string) string {
	if strong == what || strong == "acq_rel" {
		return what + "(&" + place + "); "
	}
	return ""
}

// lowOf is the part of an operand that is stored or converted; its register may be wider.
func (s *scope) lowOf(o operand, kind string, line int) string {
	if have := s.registers[o.name]; o.kind == word && have != "" {
		return fmt.Sprintf("low<%s>(v_%s)", kind, name(o.name))
	}
	return s.value(o, kind, line)
}
