package formula

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
		case minus && f.isSmooth():
			f.fail("leave it out", "%s(...) cannot be subtracted", f.peekName())
		case minus:
			removed := f.product()
			terms = slices.DeleteFunc(terms, func(t Term) bool { return slices.ContainsFunc(removed, t.equal) })
		case whole != nil && f.isGroup():
			f.take("(")
			whole.Groups = append(whole.Groups, f.group()...)
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
				f.fail("write its terms, x + I(x^2)", "%s(...) can stand in the main formula only, outside of brackets", f.peekName())
				break
			}
			start := f.offset
			s := f.smooth()
			if f.space(); f.offset < len(f.text) && strings.IndexByte(":*/^", f.text[f.offset]) >= 0 {
				f.offset = start // a factor of a product
				terms = merged(terms, f.product())
				break
			}
			if s != nil {
				whole.Smooths = append(whole.Smooths, s)
			}
		case whole != nil && f.peekName() == "" && f.take("."):
			whole.Rest = source.Right(f.at(), -1)
		default:
			terms = merged(terms, f.product())
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

// product parses a * b * c, all interactions of its factors.
func (f *parser) product() []Term {
	terms := f.nested()
	for !f.failed && f.take("*") {
		right := f.nested()
		if f.tooMany(len(terms) * len(right)) {
			return nil
		}
		terms = slices.Concat(terms, right, crossed(terms, right))
	}
	slices.SortStableFunc(terms, func(a, b Term) int { return len(a.Columns) - len(b.Columns) })
	return terms
}

// nested parses a / b, that is a + a:b.
func (f *parser) nested() []Term {
	terms := f.interaction()
	for !f.failed && f.take("/") {
		within := Term{}
		for _, t := range terms {
			within = crossed([]Term{within}, []Term{t})[0]
		}
		terms = append(terms, crossed([]Term{within}, f.interaction())...)
	}
	return terms
}

// interaction parses a:b:c.
func (f *parser) interaction() []Term {
	terms := f.power()
	for !f.failed && f.take(":") {
		right := f.power()
		if f.tooMany(len(terms) * len(right)) {
			return nil
		}
		terms = crossed(terms, right)
	}
	return terms
}

// mostTerms bounds the terms of a product.
const mostTerms = 2000

// tooMany refuses a product of n terms or more than a fit could carry.
func (f *parser) tooMany(n int) bool {
	if n > mostTerms {
		f.fail("name the products that you need, a:b", "a product of more than %d terms", mostTerms)
	}
	return f.failed
}

// mostFactors bounds the exponent of (a + b)^n.
const mostFactors = 9

// power parses (a + b)^2, the terms and their products of two.
func (f *parser) power() []Term {
	terms := f.factor()
	if f.failed || !f.take("^") {
		return terms
	}
	f.space()
	n := 0
	if f.offset < len(f.text) {
		n = int(f.text[f.offset]) - '0'
	}
	if n < 1 || n > mostFactors {
		f.fail("write (a + b)^2; for the square of a column I(x^2)", "a number from 1 to %d must follow ^, not %s", mostFactors, f.found())
		return terms
	}
	if n > 1 && len(terms) == 1 {
		x := strings.Join(terms[0].Columns, ":")
		f.fail(fmt.Sprintf("write I(%s^%d)", strings.ReplaceAll(x, ":", "*"), n), "%s^%d in a formula is %[1]s alone, not a power", x, n)
		return terms
	}
	f.offset++
	all := terms
	for range n - 1 {
		if f.tooMany(len(all) * len(terms)) {
			return nil
		}
		all = merged(all, crossed(all, terms))
	}
	return all
}

// factor parses a column, a function of columns such as log(x) or I(x^2), or terms in
// brackets.
func (f *parser) factor() []Term {
	at := f.at()
	switch {
	case f.take("("):
		_, terms := f.sum(nil)
		if !f.failed && !f.take(")") {
			f.fail("", ") must close the terms, not %s", f.found())
		}
		return terms
	case f.isSmooth():
		return f.powers(at)
	case f.peekName() != "" && f.isCall():
		if name := f.function(); name != "" {
			return []Term{{at, []string{name}}}
		}
		return nil
	}
	n := f.name()
	if n == "" {
		hint := ""
		if strings.ContainsAny(f.found()[:1], "0123456789") {
			hint = "write arithmetic in I(...), as I(x / 10)"
		}
		f.fail(hint, "a column, 1, 0, log(x), I(x^2), poly(...), spline(...), offset(...) or (1 | group) must come here, not %s", f.found())
		return nil
	}
	return []Term{{at, []string{n}}}
}

// powers parses poly(x, 3) as a factor: the terms x, I(x^2) and I(x^3).
func (f *parser) powers(at expr.Position) (terms []Term) {
	s := f.smooth()
	switch {
	case s == nil:
		return nil
	case s.Degree == 0:
		f.fail("multiply poly(x, 2) or cut(x, 40, 60), or write the spline as a term of its own", "spline(...) cannot be multiplied")
		return nil
	case f.take("^"):
		f.fail("raise its degree instead, poly(x, 4)", "poly(...) has no powers")
		return nil
	}
	terms = []Term{{at, []string{s.Column}}}
	for k := 2; k <= s.Degree; k++ {
		d := f.definition(source.Value[string]{V: fmt.Sprintf("%s^%d", s.Column, k), At: at})
		if d == nil {
			return nil
		}
		d.Name = source.Value[string]{V: "I(" + d.Text.V + ")", At: at}
		f.whole.define(d)
		terms = append(terms, Term{at, []string{d.Name.V}})
	}
	return terms
}

// crossed are the products of every term of a with every term of b; a column counts
// once in a product.
func crossed(a, b []Term) []Term {
	var terms []Term
	for _, x := range a {
		for _, y := range b {
			t := Term{y.At, slices.Clone(x.Columns)}
			for _, c := range y.Columns {
				if !slices.Contains(t.Columns, c) {
					t.Columns = append(t.Columns, c)
				}
			}
			terms = append(terms, t)
		}
	}
	return terms
}

// merged appends to terms those of more that it lacks. a:b equals b:a.
func merged(terms, more []Term) []Term {
	for _, t := range more {
		if !slices.ContainsFunc(terms, t.equal) {
			terms = append(terms, t)
		}
	}
	return terms
}

// equal reports whether two terms are products of the same columns.
func (t Term) equal(u Term) bool {
	for _, c := range t.Columns {
		if !slices.Contains(u.Columns, c) {
			return false
		}
	}
	return len(t.Columns) == len(u.Columns)
}

// function parses a function of columns, which becomes a derived column with its text
// as name: log(x), or I(expression). scale(x) is x on its declared scale.
func (f *parser) function() string {
	name := f.peekName()
	if f.whole == nil {
		f.fail("give it a name under data: derive:", "%s(...) is available in the main formula only", name)
		return ""
	}
	if hint, ok := replacements[name]; ok {
		f.fail(hint, "%s(...) is not available", name)
		return ""
	}
	f.space()
	start := f.offset
	inside, ok := f.brackets()
	if !ok {
		return ""
	}
	text := inside
	if name != "scale" && name != "I" {
		text = source.Value[string]{V: f.text[start:f.offset], At: source.Right(f.start, utf8.RuneCountInString(f.text[:start]))}
	}
	d := f.definition(text)
	if d == nil {
		return ""
	}
	d.Name = source.Value[string]{V: compact(d.Expr), At: d.Text.At}
	switch name {
	case "scale":
		if n, ok := d.Expr.(*expr.Name); ok {
			return n.ID
		}
		f.fail("", "scale(...) takes the name of a column")
		return ""
	case "I":
		d.Name.V = "I(" + d.Name.V + ")"
	}
	f.whole.define(d)
	return d.Name.V
}

// define adds a function of columns, once.
func (f *Formula) define(d *core.Definition) {
	if !slices.ContainsFunc(f.Functions, func(o *core.Definition) bool { return o.Name.V == d.Name.V }) {
		f.Functions = append(f.Functions, d)
	}
}

// compact prints an expression without spaces, unless it has words that need them.
func compact(e expr.Expr) string {
	text := e.String()
	if strings.ContainsAny(text, "'\"") || strings.Contains(text, " and ") || strings.Contains(text, " or ") || strings.Contains(text, "not ") {
		return text
	}
	return strings.ReplaceAll(text, " ", "")
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
