package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// move is mov: of a register, a number, a variable's address, or between a register
// and the parts of it.
func (s *scope) move(i *instruction, parts []string, line int) string {
	if i.count(2, line); len(parts) != 2 || sizes[parts[1]] == 0 {
		return unknown(i, line)
	}
	kind, to, from := parts[1], i.operands[0], i.operands[1]
	part := fmt.Sprintf("b%d", 8*sizes[kind]/max(1, len(to.parts)+len(from.parts)))
	switch {
	case to.kind == vector && from.kind != vector:
		var b strings.Builder
		fmt.Fprintf(&b, "{ u64 w = %s; ", s.value(from, kind, line))
		for k, o := range to.parts {
			fmt.Fprintf(&b, "set(%s, (%s)(w >> %d)); ", s.target(o, line), part, 8*sizes[part]*k)
		}
		return b.String() + "}"
	case from.kind == vector && to.kind != vector:
		var terms []string
		for k, o := range from.parts {
			terms = append(terms, fmt.Sprintf("(u64)%s << %d", s.value(o, part, line), 8*sizes[part]*k))
		}
		return fmt.Sprintf("set(%s, (%s)(%s));", s.target(to, line), kind, strings.Join(terms, " | "))
	}
	if place, space := s.place(from); space != "" && sizes[kind] == 8 {
		if space == ofCall {
			fail(line, "the address of a function's parameter is not translated")
		}
		return fmt.Sprintf("set(%s, %s);", s.target(to, line), place)
	}
	return fmt.Sprintf("set(%s, %s);", s.target(to, line), s.value(from, kind, line))
}

// place is the address of a variable in its space; no variable has space "".
func (s *scope) place(o operand) (text, space string) {
	v, ok := s.memory[o.name]
	if !ok {
		v, ok = s.variables[o.name]
	}
	if !ok {
		return "", ""
	}
	text = "m_" + name(o.name)
	if v.Space == "param" {
		text = fmt.Sprint(s.places[o.name])
	}
	return fmt.Sprintf("((u64)%s + %dull)", text, uint64(o.offset)), v.Space
}

// convert is cvt.
func (s *scope) convert(i *instruction, parts []string, line int) string {
	i.count(2, line)
	function, types := "cvt", parts[1:]
	if len(parts) == 4 {
		function, types = "cvt_"+parts[1], parts[2:]
	}
	if len(types) != 2 || sizes[types[0]] == 0 || sizes[types[1]] == 0 {
		return unknown(i, line)
	}
	to, from := types[0], types[1]
	whole := slices.Contains([]string{"cvt_rni", "cvt_rzi", "cvt_rmi", "cvt_rpi"}, function)
	var right bool
	switch toFloat, fromFloat := to[0] == 'f', from[0] == 'f'; {
	case to[0] == 'b' || from[0] == 'b' || to == "pred" || from == "pred":
	case !toFloat && !fromFloat:
		right = function == "cvt"
	case !fromFloat:
		right = function == "cvt_rn"
	case !toFloat:
		right = whole
	case to == from:
		right = whole || function == "cvt"
	case sizes[to] < sizes[from]:
		right = function == "cvt_rn"
	default:
		right = function == "cvt"
	}
	if !right {
		return unknown(i, line)
	}
	return fmt.Sprintf("extend(%s, %s<%s, %s>(%s));", s.target(i.operands[0], line), function, to, from, s.lowOf(i.operands[1], from, line))
}

// convertAddress is cvta, between a space and addresses without one.
func (s *scope) convertAddress(i *instruction, parts []string, line int) string {
	i.count(2, line)
	function, rest := "cvta_", parts[1:]
	if len(rest) > 0 && rest[0] == "to" {
		function, rest = "cvta_to_", rest[1:]
	}
	if len(rest) != 2 || !slices.Contains([]string{"shared", "local", "const", "global"}, rest[0]) || rest[1] != "u64" {
		return unknown(i, line)
	}
	from := i.operands[1]
	text, space := s.place(from)
	if space == "" {
		text = s.value(from, "u64", line)
	} else if space != rest[0] {
		fail(line, "%s is in .%s", from.name, space)
	}
	return fmt.Sprintf("set(%s, %s%s(thread, %s));", s.target(i.operands[0], line), function, rest[0], text)
}
