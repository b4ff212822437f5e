package ptx

import (
	"strconv"
	"strings"
)

// instruction parses one, to its semicolon.
func (p *parser) instruction() *instruction {
	i := new(instruction)
	if p.skip("@") {
		i.unless = p.skip("!")
		i.guard = p.next()
	}
	i.opcode = p.next()
	for !p.skip(";") {
		i.operands = append(i.operands, p.operand())
		if !p.skip(",") && p.peek() != ";" {
			fail(p.line(), "%q behind an operand", p.peek())
		}
	}
	return i
}

func (p *parser) operand() operand {
	line := p.line()
	switch t := p.next(); {
	case t == "{":
		return operand{kind: vector, parts: p.operands("}")}
	case t == "(":
		return operand{kind: list, parts: p.operands(")")}
	case t == "[":
		o := p.operand()
		if o.kind == integer {
			o = operand{offset: int64(o.bits)}
		} else if o.kind != word {
			fail(line, "not an address")
		}
		o.kind = address
		if p.skip("+") {
			o.offset = int64(p.operand().bits)
		}
		p.expect("]")
		return o
	case t == "-":
		o := p.operand()
		if o.kind != integer {
			fail(line, "minus before what is no whole number")
		}
		o.bits = -o.bits
		return o
	case t[0] >= '0' && t[0] <= '9':
		return literal(t, line)
	case isWord(t[0]):
		o := operand{name: t}
		if p.skip("|") {
			return operand{kind: pair, parts: []operand{o, {name: p.next()}}}
		}
		return o
	default:
		fail(line, "%q where an operand is expected", t)
		panic("unreachable")
	}
}

func (p *parser) operands(end string) []operand {
	var all []operand
	for !p.skip(end) {
		all = append(all, p.operand())
		p.skip(",")
	}
	return all
}

// literal parses a number: 0f and 0d are followed by the bits of a float.
func literal(text string, line int) operand {
	digits, kind, base, width := strings.TrimSuffix(text, "U"), integer, 0, 64
	switch {
	case strings.HasPrefix(text, "0f") && len(text) == 10:
		digits, kind, base, width = text[2:], single, 16, 32
	case strings.HasPrefix(text, "0d") && len(text) == 18:
		digits, kind, base = text[2:], double, 16
	}
	bits, err := strconv.ParseUint(digits, base, width)
	if err != nil {
		fail(line, "%q is no number", text)
	}
	return operand{kind: kind, bits: bits}
}
