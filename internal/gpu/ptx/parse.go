package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse parses PTX source; the error names the line.
func Parse(source string) (m *Module, err error) {
	tokens, err := scan(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(failure)
			if !ok {
				panic(r)
			}
			m, err = nil, failed
		}
	}()
	m = new(Module)
	for p.at < len(p.tokens) {
		p.directive(m)
	}
	return m, nil
}

// A failure is an error on a line, as a panic within the package.
type failure struct {
	line int
	text string
}

func (f failure) Error() string { return fmt.Sprintf("ptx: line %d: %s", f.line, f.text) }

func fail(line int, format string, args ...any) { panic(failure{line, fmt.Sprintf(format, args...)}) }

type parser struct {
	tokens []token
	at     int
}

func (p *parser) peek() string {
	if p.at >= len(p.tokens) {
		return ""
	}
	return p.tokens[p.at].text
}

func (p *parser) line() int { return p.tokens[min(p.at, len(p.tokens)-1)].line }

func (p *parser) next() string {
	if p.at >= len(p.tokens) {
		fail(p.line(), "the text ends here")
	}
	p.at++
	return p.tokens[p.at-1].text
}

// skip consumes a token if it is the next one.
func (p *parser) skip(text string) bool {
	if p.peek() != text {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(text string) {
	if line, got := p.line(), p.next(); got != text {
		fail(line, "%q where %q is expected", got, text)
	}
}

func (p *parser) number() int {
	line, text := p.line(), p.next()
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<20 {
		fail(line, "%q is no number up to 2^20", text)
	}
	return n
}

// directive parses one of a module.
func (p *parser) directive(m *Module) {
	p.skip(".visible")
	line := p.line()
	switch d := p.next(); d {
	case ".version":
		p.next()
	case ".target":
		m.Target = p.next()
	case ".address_size":
		if n := p.number(); n != 64 {
			fail(line, "addresses of %d bits", n)
		}
	case ".const", ".global", ".shared":
		m.Variables = append(m.Variables, p.variable(d[1:], line))
		p.expect(";")
	case ".func", ".entry":
		m.Functions = append(m.Functions, p.function(line, d == ".entry"))
	default:
		fail(line, "%s is not translated", d)
	}
}

// variable parses one from behind its space.
func (p *parser) variable(space string, line int) Variable {
	v := Variable{Line: line, Space: space}
	if p.skip(".align") {
		v.Align = p.number()
	}
	v.Type = strings.TrimPrefix(p.next(), ".")
	if sizes[v.Type] == 0 || v.Type == "pred" {
		fail(line, "a variable of type %s", v.Type)
	}
	v.Align = max(v.Align, sizes[v.Type])
	v.Name = p.next()
	if p.skip("[") {
		if v.Count = p.number(); v.Count < 1 {
			fail(line, "%d elements", v.Count)
		}
		p.expect("]")
	}
	if p.skip("=") {
		p.expect("{")
		for {
			o := p.operand()
			if o.kind == word {
				fail(line, "the address of %s in an initialiser is not translated", o.name)
			}
			v.Init = append(v.Init, o.bits)
			if !p.skip(",") {
				break
			}
		}
		p.expect("}")
		if len(v.Init) > v.Count {
			fail(line, "%d numbers for %d elements", len(v.Init), v.Count)
		}
	}
	return v
}

// params parses a list of parameters, in parentheses.
func (p *parser) params() []Variable {
	var all []Variable
	p.expect("(")
	for !p.skip(")") {
		line := p.line()
		p.expect(".param")
		all = append(all, p.variable("param", line))
		p.skip(",")
	}
	return all
}

func (p *parser) function(line int, entry bool) *Function {
	f := &Function{Line: line, Entry: entry}
	if p.peek() == "(" {
		f.Results = p.params()
	}
	f.Name = p.next()
	if p.peek() == "(" {
		f.Params = p.params()
	}
	for p.peek() != "{" && p.peek() != ";" {
		switch line, d := p.line(), p.next(); d {
		case ".maxntid":
			f.MaxThreads = p.number()
			for p.skip(",") {
				f.MaxThreads *= p.number()
			}
		case ".minnctapersm": // advice
			p.number()
		default:
			fail(line, "%s is not translated", d)
		}
	}
	if f.Declared = p.skip(";"); !f.Declared {
		f.Body = p.body()
	}
	return f
}
