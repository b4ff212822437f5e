package ptx

import (
	"slices"
	"strings"
)

// body parses the statements of a function.
func (p *parser) body() []statement {
	var all []statement
	depth := 0
	for {
		s := p.statement()
		all = append(all, s)
		switch s.scope {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return all
			}
		}
	}
}

func (p *parser) statement() statement {
	s := statement{line: p.line()}
	switch first := p.peek(); {
	case first == "{" || first == "}":
		s.scope = p.next()
	case first == ".reg":
		p.next()
		s.registers = p.registers()
	case slices.Contains([]string{".local", ".shared", ".param"}, first):
		v := p.variable(p.next()[1:], s.line)
		s.variable = &v
		p.expect(";")
	case first == ".pragma": // advice
		for p.next() != ";" {
		}
	case p.at+1 < len(p.tokens) && p.tokens[p.at+1].text == ":":
		s.label = p.next()
		p.expect(":")
	default:
		s.instruction = p.instruction()
	}
	return s
}

func (p *parser) registers() []register {
	line, kind := p.line(), strings.TrimPrefix(p.next(), ".")
	if sizes[kind] == 0 {
		fail(line, "a register of type %s", kind)
	}
	var all []register
	for {
		r := register{kind: kind, name: p.next()}
		if p.skip("<") {
			r.count = p.number()
			p.expect(">")
		}
		all = append(all, r)
		if p.skip(";") {
			return all
		}
		p.expect(",")
	}
}
