package expr

import (
	"math"
	"strconv"
)

// maxDepth bounds the nesting of an expression, so that a hostile text cannot
// exhaust the stack.
const maxDepth = 200

// Binding powers, loosest first. A prefix operator binds its operand with the
// power in prefixPower: -x^2 is -(x^2), not a == b is not (a == b).
const (
	powerLowest = iota
	powerOr
	powerAnd
	powerNot
	powerCompare
	powerSum
	powerProduct
	powerSign
	powerPower
	powerPostfix
)

func infixPower(op string) int {
	switch op {
	case "or":
		return powerOr
	case "and":
		return powerAnd
	case "==", "!=", "<", "<=", ">", ">=":
		return powerCompare
	case "+", "-":
		return powerSum
	case "*", "/", "@":
		return powerProduct
	case "^":
		return powerPower
	}
	return powerLowest
}

func prefixPower(op string) int {
	if op == "not" {
		return powerNot
	}
	return powerSign
}

// parser is a Pratt parser over the tokens of one text.
type parser struct {
	tokens []token
	next   int
	depth  int
	errs   *Errors
}

// Parse reads one expression that starts at pos of a model file. The tree is
// nil exactly when there are mistakes; all of them are returned, each with its
// place.
func Parse(src string, pos Position) (Expr, Errors) {
	var errs Errors
	p := &parser{tokens: scan(src, pos, &errs), errs: &errs}
	if len(p.tokens) == 1 && len(errs) == 0 {
		errs.Add(p.peek().at, "", "empty expression")
		return nil, errs
	}
	e := p.expression(powerLowest)
	if t := p.peek(); t.kind != endOfText && e != nil {
		hint := "an operator or a comma is missing"
		if t.is("=") {
			hint = "use == to compare"
		}
		p.fail(t.at, hint, "unexpected %s after the expression", t.describe())
	}
	if len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	return e, nil
}

// fail reports a mistake, unless one at the same place caused it.
func (p *parser) fail(at Position, hint, format string, args ...any) {
	for _, e := range *p.errs {
		if e.Position == at {
			return
		}
	}
	p.errs.Add(at, hint, format, args...)
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != endOfText {
		p.next++
	}
	return t
}

// expression parses operators that bind tighter than power. It returns nil after a mistake
// from which this level cannot continue.
func (p *parser) expression(power int) Expr {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fail(p.peek().at, "name parts of it under let:", "expression nested deeper than %d", maxDepth)
		p.next = len(p.tokens) - 1
		return nil
	}
	left := p.operand()
	compared := false
	for left != nil {
		t := p.peek()
		switch {
		case t.is("["):
			left = p.index(left)
			continue
		case t.is("."):
			left = p.member(left)
			continue
		case t.kind != operator || t.text == "not":
			return left
		}
		binds := infixPower(t.text)
		if binds <= power {
			return left
		}
		if binds == powerCompare {
			if compared {
				p.fail(t.at, "write a < b and b < c", "comparisons do not chain")
			}
			compared = true
		}
		p.take()
		from := binds
		if t.text == "^" {
			from-- // right-associative
		}
		right := p.expression(from)
		if right == nil {
			return nil
		}
		left = &Binary{At: t.at, Op: t.text, X: left, Y: right}
	}
	return left
}

// operand parses a literal, name, call, list, bracketed expression, or a
// prefix operator with its operand.
func (p *parser) operand() Expr {
	t := p.take()
	switch {
	case t.kind == number:
		value, err := strconv.ParseFloat(t.text, 64)
		if err != nil || math.IsInf(value, 0) {
			p.fail(t.at, "", "number %s is out of range", t.text)
		}
		return &Number{At: t.at, Value: value}
	case t.kind == text:
		return &Text{At: t.at, Value: t.text}
	case t.kind == name:
		if p.peek().is("(") {
			return p.call(t)
		}
		return &Name{At: t.at, ID: t.text}
	case t.is("("):
		inner := p.expression(powerLowest)
		if inner == nil {
			return nil
		}
		p.close(t, ")")
		return inner
	case t.is("["):
		return &List{At: t.at, Items: p.items(t, "]")}
	case t.is("-"), t.is("not"):
		x := p.expression(prefixPower(t.text))
		if x == nil {
			return nil
		}
		return &Unary{At: t.at, Op: t.text, X: x}
	case t.is("+"):
		return p.expression(powerSign)
	}
	hint := ""
	if t.kind == operator {
		hint = "an operand is missing before it"
	}
	p.fail(t.at, hint, "unexpected %s", t.describe())
	return nil
}

// close takes the bracket that closes open.
func (p *parser) close(open token, mark string) {
	if t := p.peek(); !t.is(mark) {
		p.fail(t.at, "add "+mark, "%s at %d:%d is not closed before %s", open.text, open.at.Line, open.at.Column, t.describe())
		return
	}
	p.take()
}

func (p *parser) index(x Expr) Expr {
	open := p.take()
	indices := p.items(open, "]")
	if len(indices) == 0 {
		p.fail(open.at, "name a dim, a label or a column", "empty index")
	}
	return &Index{At: x.Pos(), X: x, Indices: indices}
}

func (p *parser) member(x Expr) Expr {
	dot := p.take()
	t := p.take()
	if t.kind != name {
		p.fail(dot.at, "", "a name must follow the dot, not %s", t.describe())
		return nil
	}
	switch x.(type) {
	case *Call, *Index, *Member:
	default:
		p.fail(dot.at, "write a dotted name without spaces or brackets", "only a call has parts such as .%s", t.text)
	}
	return &Member{At: x.Pos(), X: x, Name: t.text}
}
