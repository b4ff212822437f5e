package ptx

import (
	"fmt"
	"strings"
)

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

// accessParam reads or writes a parameter of a call, at a place known now.
func (s *scope) accessParam(loads bool, v Variable, offset int64, kind string, elements []operand, line int) string {
	bytes := sizes[kind] * len(elements)
	if offset < 0 || int(offset)+bytes > v.Bytes() || int(offset)%bytes != 0 || v.Align%bytes != 0 {
		fail(line, "%d bytes at %d of %s, which has %d aligned to %d", bytes, offset, v.Name, v.Bytes(), v.Align)
	}
	var b strings.Builder
	for k, o := range elements {
		place := fmt.Sprintf("*(%s*)(m_%s + %d)", kind, name(v.Name), int(offset)+k*sizes[kind])
		if v.Count == 0 {
			place = "m_" + name(v.Name)
		}
		switch {
		case loads && v.Count == 0:
			fmt.Fprintf(&b, "extend(%s, low<%s>(%s)); ", s.target(o, line), kind, place)
		case loads:
			fmt.Fprintf(&b, "extend(%s, %s); ", s.target(o, line), place)
		case v.Count == 0:
			fmt.Fprintf(&b, "extend(%s, %s); ", place, s.lowOf(o, kind, line))
		default:
			fmt.Fprintf(&b, "%s = %s; ", place, s.lowOf(o, kind, line))
		}
	}
	return b.String()
}
