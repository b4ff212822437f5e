package expr

// call parses the arguments of fn after its opening bracket: positional ones first, then
// name=value.
func (p *parser) call(fn token) Expr {
	open := p.take()
	c := &Call{At: fn.at, Func: fn.text}
	seen := map[string]bool{}
	named := false
	p.list(open, ")", func() bool {
		a := Argument{At: p.peek().at}
		if t := p.peek(); t.kind == name && p.tokens[p.next+1].is("=") {
			p.take()
			p.take()
			a.Name, named = t.text, true
			if seen[t.text] {
				p.fail(t.at, "", "argument %s of %s is given twice", t.text, fn.text)
			}
			seen[t.text] = true
		} else if named {
			p.fail(a.At, "positional arguments come first", "positional argument after a named one in %s", fn.text)
		}
		a.Value = p.expression(powerLowest)
		c.Args = append(c.Args, a)
		return a.Value != nil
	})
	return c
}

// items parses a comma-separated list of expressions up to its closing bracket.
func (p *parser) items(open token, mark string) []Expr {
	var items []Expr
	p.list(open, mark, func() bool {
		e := p.expression(powerLowest)
		items = append(items, e)
		return e != nil
	})
	return items
}

// list parses elements and commas up to mark. After a mistake in an element it continues at
// the next comma of this list, so that one pass finds all mistakes.
func (p *parser) list(open token, mark string, element func() bool) {
	if p.peek().is(mark) {
		p.take()
		return
	}
	for {
		switch {
		case !element():
			p.skip()
		case !p.peek().is(",") && !p.peek().is(mark) && p.peek().kind != endOfText:
			t := p.peek()
			p.fail(t.at, "an operator or a comma is missing", "unexpected %s", t.describe())
			p.skip()
		}
		if !p.peek().is(",") {
			break
		}
		p.take()
		if p.peek().is(mark) {
			break // a trailing comma
		}
	}
	p.close(open, mark)
}

// skip moves to the next comma or closing bracket of the list being parsed.
func (p *parser) skip() {
	nested := 0
	for {
		t := p.peek()
		switch {
		case t.kind == endOfText:
			return
		case t.is("("), t.is("["):
			nested++
		case t.is(")"), t.is("]"):
			if nested == 0 {
				return
			}
			nested--
		case t.is(",") && nested == 0:
			return
		}
		p.take()
	}
}
