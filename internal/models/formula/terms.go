package formula

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

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
