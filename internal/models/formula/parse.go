package formula

import (
	"cmp"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Parse parses a formula. It returns nil after a mistake from which it cannot continue.
func Parse(text source.Value[string], p *source.Problems) *Formula {
	f := &parser{Problems: p, text: text.V, start: text.At}
	out := &Formula{}
	f.whole = out
	f.response(out)
	if f.failed {
		return nil
	}
	if !f.take("~") {
		switch name := out.Response.V; {
		case f.found() != "(":
		case data.TransformNamed(name) != nil:
			f.fail("write the column alone", "a response is a column: declare `transform: %s` for it under columns", name)
		default:
			f.fail(cmp.Or(responses[name], "write the column alone"), "a response is a column, not %s(...)", name)
		}
		f.fail("write y ~ 1 + x", "~ must follow the response, not %s", f.found())
		return nil
	}
	out.Intercept, out.Terms = f.sum(out)
	if !f.failed && f.offset < len(f.text) {
		f.leftOver()
	}
	if f.failed {
		return nil
	}
	return out
}

// leftOver is the mistake that something follows the terms.
func (f *parser) leftOver() {
	hint := ""
	if f.found() == "|" {
		hint = "write (1 | group) for what varies between groups, group for one coefficient each"
	}
	f.fail(hint, "unexpected %s in the formula", f.found())
}

// ParseTerms parses `1 + a + b:c`, the right side of a formula without groups
// and offsets.
func ParseTerms(text source.Value[string], p *source.Problems) (intercept bool, terms []Term) {
	f := &parser{Problems: p, text: text.V, start: text.At}
	intercept, terms = f.sum(nil)
	if !f.failed && f.offset < len(f.text) {
		f.fail("", "unexpected %s in the formula", f.found())
	}
	return intercept, terms
}

// parsePredicted parses `1 + x + poly(z, 2) + (1 | g)`, the right side of a formula for one
// of the family's parameters. Its functions of columns join those of the formula.
func parsePredicted(text source.Value[string], p *source.Problems) *Formula {
	f := &parser{Problems: p, text: text.V, start: text.At}
	out := &Formula{}
	f.whole = out
	out.Intercept, out.Terms = f.sum(out)
	switch {
	case f.failed:
	case f.offset < len(f.text):
		f.fail("", "unexpected %s in the formula", f.found())
	case len(out.Offsets) > 0:
		f.fail("", "the formula of a parameter has no offsets")
	case out.Rest.Line > 0:
		f.fail("name the columns", "the formula of a parameter has no point")
	}
	return out
}

// response parses y, surv(time, event), surv(entry, time, event), y | trials(n) or
// y | trunc(lb = 1, ub = 9).
func (f *parser) response(out *Formula) {
	if f.peekName() == "surv" && f.isCall() {
		const form = "surv(time, event)"
		f.name()
		f.take("(")
		out.Response = f.column(form)
		f.expect(",", form)
		out.Event = f.column(form)
		if !f.failed && f.take(",") {
			out.Entry, out.Response = out.Response, out.Event
			out.Event = f.column("surv(entry, time, event)")
		}
		f.expect(")", form)
		return
	}
	start := f.offset
	out.Response = f.column("y ~ 1 + x")
	if f.failed || f.comparison(out, start) || !f.take("|") {
		return
	}
	switch name := f.name(); name {
	case "trials":
		f.trials(out)
	case "trunc":
		f.truncation(out)
	default:
		f.fail(cmp.Or(replacements[name], "write y | trials(n) or y | trunc(lb = 1)"), "only trials(n) and trunc(lb = 1, ub = 9) may follow | in a response")
	}
}

func (f *parser) trials(out *Formula) {
	f.expect("(", "y | trials(n)")
	if f.space(); f.offset < len(f.text) && f.text[f.offset] >= '0' && f.text[f.offset] <= '9' {
		out.TrialsNumber = source.Value[float64]{At: f.at()}
		out.TrialsNumber.V = f.number("y | trials(10)")
		if n := out.TrialsNumber.V; !f.failed && (n < 1 || n != float64(int(n))) {
			f.fail("write y | trials(10)", "the number of trials is a whole number from 1 on")
		}
	} else {
		out.Trials = f.column("y | trials(n)")
	}
	f.expect(")", "y | trials(n)")
}

func (f *parser) truncation(out *Formula) {
	const form = "y | trunc(lb = 1, ub = 9)"
	f.expect("(", form)
	for more := true; more && !f.failed; more = f.take(",") {
		var to *source.Value[float64]
		switch f.name() {
		case "lb":
			to = &out.Lowest
		case "ub":
			to = &out.Highest
		default:
			f.fail("write "+form, "trunc has the bounds lb and ub")
			return
		}
		f.expect("=", form)
		*to = source.Value[float64]{At: f.at()}
		minus := f.take("-")
		if to.V = f.number(form); minus {
			to.V = -to.V
		}
	}
	f.expect(")", form)
}

// comparison parses the rest of a response such as num > 0 or y == 'level', which becomes a
// derived column. It returns false if no operator comes next.
func (f *parser) comparison(out *Formula, start int) bool {
	f.space()
	if f.offset == len(f.text) || !strings.ContainsRune("=!<>", rune(f.text[f.offset])) {
		return false
	}
	end := strings.LastIndexByte(f.text, '~')
	if end < f.offset {
		return false
	}
	f.offset = start
	f.space()
	text := source.Value[string]{V: strings.TrimRight(f.text[f.offset:end], " \t\n"), At: f.at()}
	e, errs := expr.Parse(text.V, text.At)
	if len(errs) > 0 {
		f.List = append(f.List, errs...)
		f.failed = true
		return true
	}
	f.offset = end
	out.Response.V = compact(e)
	out.Compared = expr.Names(e)
	out.Functions = append(out.Functions, &core.Definition{Name: out.Response, Text: text, Expr: e})
	return true
}

// group parses the inside of (1 + x | g), after its opening bracket. The terms of
// (1 + x | a/b) are those of (1 + x | a) and (1 + x | a:b).
func (f *parser) group() []GroupTerm {
	g := GroupTerm{At: f.at()}
	g.Intercept, g.Terms = f.sum(nil)
	if f.failed {
		return nil
	}
	if g.Uncorrelated = f.take("||"); !g.Uncorrelated && !f.take("|") {
		f.fail("write (1 | group)", "| must follow the varying terms, not %s", f.found())
		return nil
	}
	at := f.at()
	names, nested := f.groupNames()
	switch {
	case f.failed:
	case !f.take(")"):
		f.fail("write (1 | g), (1 | g:h) or (1 | g/h)", ") must close the group term, not %s", f.found())
	case !g.Intercept && len(g.Terms) == 0:
		f.fail("", "the group term of %s has nothing that varies", names[0])
	}
	if f.failed {
		return nil
	}
	var groups []GroupTerm
	for n := range names {
		if n+1 == len(names) || nested {
			one := g
			if n > 0 {
				one.Crossed = names[:n+1]
			}
			one.Group = source.Value[string]{V: f.crossedName(names[:n+1], at), At: at}
			groups = append(groups, one)
		}
	}
	return groups
}

// groupNames parses g, a:b or a/b, the names of categories.
func (f *parser) groupNames() (names []string, nested bool) {
	for {
		n := f.name()
		if n == "" {
			f.fail("write (1 | group), (1 | a:b) or (1 | a/b)", "the name of a category must follow |, not %s", f.found())
			return names, nested
		}
		names = append(names, n)
		crossed := f.take(":")
		within := !crossed && f.take("/")
		if !crossed && !within {
			return names, nested
		}
		if len(names) > 1 && nested != within {
			f.fail("write two terms", "a group is crossed, a:b, or nested, a/b, but not both")
			return names, nested
		}
		nested = within
	}
}

// crossedName names the group of some categories: of several a column that crosses them,
// which it defines.
func (f *parser) crossedName(names []string, at expr.Position) string {
	if len(names) == 1 {
		return names[0]
	}
	d := f.definition(source.Value[string]{V: data.CrossFunction + "(" + strings.Join(names, ", ") + ")", At: at})
	if d == nil {
		return ""
	}
	d.Name = source.Value[string]{V: strings.Join(names, "_by_"), At: at}
	f.whole.define(d)
	return d.Name.V
}

// offsetTerm parses offset(expression).
func (f *parser) offsetTerm() *core.Definition { return f.bracketed() }

// bracketed parses name(expression).
func (f *parser) bracketed() *core.Definition {
	inside, ok := f.brackets()
	if !ok {
		return nil
	}
	return f.definition(inside)
}

// definition parses text as an expression; nil after a mistake.
func (f *parser) definition(text source.Value[string]) *core.Definition {
	e, errs := expr.Parse(text.V, text.At)
	if len(errs) > 0 {
		f.List = append(f.List, errs...)
		f.failed = true
		return nil
	}
	return &core.Definition{Text: text, Expr: e}
}

// brackets takes name(...) and returns its inside; false without a closing bracket.
func (f *parser) brackets() (inside source.Value[string], ok bool) {
	name := f.name()
	f.take("(")
	at, from := f.at(), f.offset
	for depth := 1; f.offset < len(f.text); f.offset++ {
		switch f.text[f.offset] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			inside = source.Value[string]{V: f.text[from:f.offset], At: at}
			f.offset++
			return inside, true
		}
	}
	f.fail("", "%s( is not closed", name)
	return inside, false
}
