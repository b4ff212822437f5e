package formula

import (
	"slices"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Parse parses a formula. It returns nil after reporting a mistake from
// which it cannot go on.
func Parse(text source.Value[string], p *source.Problems) *Formula {
	f := &parser{Problems: p, text: text.V, start: text.At}
	out := &Formula{}
	f.response(out)
	if f.failed {
		return nil
	}
	if !f.take("~") {
		f.fail("write y ~ 1 + x", "~ must follow the response, not %s", f.found())
		return nil
	}
	out.Intercept, out.Terms = f.sum(out)
	if !f.failed && f.offset < len(f.text) {
		f.fail("", "unexpected %s in the formula", f.found())
	}
	if f.failed {
		return nil
	}
	return out
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

// response parses y, surv(time, event) or y | trials(n).
func (f *parser) response(out *Formula) {
	if f.peekName() == "surv" && f.isCall() {
		f.name()
		f.take("(")
		out.Response = f.column("surv(time, event)")
		f.expect(",", "surv(time, event)")
		out.Event = f.column("surv(time, event)")
		f.expect(")", "surv(time, event)")
		return
	}
	out.Response = f.column("y ~ 1 + x")
	if f.failed || !f.take("|") {
		return
	}
	if f.name() != "trials" {
		f.fail("write y | trials(n)", "only trials(n) may follow | in a response")
		return
	}
	f.expect("(", "y | trials(n)")
	out.Trials = f.column("y | trials(n)")
	f.expect(")", "y | trials(n)")
}

// sum parses terms joined by + and -. Group terms, curves and offsets go to whole, which
// is nil inside the brackets of a group. An intercept is there unless 0 or -1
// removes it.
func (f *parser) sum(whole *Formula) (intercept bool, terms []Term) {
	intercept = true
	minus := f.take("-")
	for !f.failed {
		switch {
		case f.take("1"):
			intercept = !minus
		case f.take("0"):
			intercept = minus
		case minus:
			f.fail("write + 0 or - 1 to leave out the intercept", "only the intercept can be removed, not %s", f.found())
		case whole != nil && f.take("("):
			whole.Groups = append(whole.Groups, f.group())
		case f.peekName() == "offset" && f.isCall():
			if whole == nil {
				f.fail("", "an offset cannot vary by group")
				break
			}
			if o := f.offsetTerm(); o != nil {
				whole.Offsets = append(whole.Offsets, o)
			}
		case f.isSmooth():
			if whole == nil {
				f.fail("", "%s(...) can stand in the main formula only, outside of groups", f.peekName())
				break
			}
			if s := f.smooth(); s != nil {
				whole.Smooths = append(whole.Smooths, s)
			}
		case whole != nil && f.peekName() == "" && f.take("."):
			whole.Rest = source.Right(f.at(), -1)
		default:
			terms = f.product(terms)
		}
		switch {
		case f.failed:
		case f.take("+"):
			minus = false
		case f.take("-"):
			minus = true
		default:
			return intercept, terms
		}
	}
	return intercept, terms
}

// product parses a * b * c, which stands for all interactions of its factors,
// and appends them to terms.
func (f *parser) product(terms []Term) []Term {
	expanded := []Term{}
	for first := true; first || f.take("*"); first = false {
		t := f.interaction()
		if f.failed {
			return terms
		}
		for _, e := range slices.Clone(expanded) {
			expanded = append(expanded, Term{t.At, append(slices.Clone(e.Columns), t.Columns...)})
		}
		expanded = append(expanded, t)
	}
	slices.SortStableFunc(expanded, func(a, b Term) int { return len(a.Columns) - len(b.Columns) })
	for _, t := range expanded {
		if slices.ContainsFunc(terms, func(u Term) bool { return u.String() == t.String() }) {
			f.Add(t.At, "", "term %s appears twice", t)
			continue
		}
		terms = append(terms, t)
	}
	return terms
}

// interaction parses a:b:c.
func (f *parser) interaction() Term {
	t := Term{At: f.at()}
	for first := true; first || f.take(":"); first = false {
		if f.peekName() != "" && f.isCall() {
			f.fail("poly(x, 2) and spline(x, 30, 50, 70) are, as terms of their own; else declare `transform:` on the column, or write core blocks", "%s(...) is not available in a formula", f.peekName())
			return t
		}
		n := f.name()
		if n == "" {
			f.fail("", "a column, 1, 0, poly(...), spline(...), offset(...) or (1 | group) must come here, not %s", f.found())
			return t
		}
		t.Columns = append(t.Columns, n)
	}
	return t
}

// group parses the inside of (1 + x | g), after its opening bracket.
func (f *parser) group() GroupTerm {
	g := GroupTerm{At: f.at()}
	g.Intercept, g.Terms = f.sum(nil)
	if f.failed {
		return g
	}
	if g.Uncorrelated = f.take("||"); !g.Uncorrelated && !f.take("|") {
		f.fail("write (1 | group)", "| must follow the varying terms, not %s", f.found())
		return g
	}
	g.Group.At = f.at()
	if g.Group.V = f.name(); g.Group.V == "" {
		f.fail("write (1 | group)", "the name of a category must follow |, not %s", f.found())
	} else if !f.take(")") {
		f.fail("", ") must close the group term, not %s", f.found())
	} else if !g.Intercept && len(g.Terms) == 0 {
		f.fail("", "the group term of %s has nothing that varies", g.Group.V)
	}
	return g
}

// offsetTerm parses offset(expression).
func (f *parser) offsetTerm() *core.Definition {
	f.name()
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
			text := source.Value[string]{V: f.text[from:f.offset], At: at}
			f.offset++
			e, errs := expr.Parse(text.V, at)
			if len(errs) > 0 {
				f.List = append(f.List, errs...)
				f.failed = true
				return nil
			}
			return &core.Definition{Text: text, Expr: e}
		}
	}
	f.fail("", "offset( is not closed")
	return nil
}
