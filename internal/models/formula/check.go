package formula

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// checker checks a formula.
type checker struct{ *data.Checker }

// Check reports contradictions between a formula, its family and the data.
func Check(c *data.Checker, m *Model) {
	b := &checker{c}
	d := b.Data
	f := b.checkFamily(m)
	if m.Terms == nil {
		return
	}
	m.Terms.expand(d)
	b.derive(m.Terms.Functions)
	known := b.checkColumns(m.Terms)
	known = b.checkPredicted(m, f) && known
	if c := d.Column(m.Terms.Response.V); c != nil && f != nil {
		b.checkResponse(m, c, f)
	}
	b.checkResponseParts(m, f)
	b.checkCuts(m, f)
	for _, t := range m.Terms.Terms {
		b.checkTerm(m, t)
	}
	for _, o := range m.Terms.Offsets {
		b.checkOffset(o)
	}
	b.checkSmooths(m.Terms)
	b.checkGroups(m, m.Terms)
	if f != nil && f.effects {
		b.checkEffects(m, f)
	}
	b.checkGroupFormulas(m)
	if known && f != nil && m.Complete(d) {
		b.checkPriors(m, f)
	}
	used := m.Terms.usedBy()
	for _, p := range m.Predicted {
		maps.Copy(used, p.usedBy())
	}
	b.transformArguments(used)
	b.Used(used)
	b.checkScales(m, f)
	b.checkWithin(m)
	b.checkPowers(m)
	// a term without levels is reported already, and not lowered
	numeric := func(g GroupTerm) bool {
		c := d.Column(g.Group.V)
		return c != nil && c.Numeric()
	}
	m.Terms.Groups = slices.DeleteFunc(m.Terms.Groups, numeric)
	for _, p := range m.Predicted {
		p.Groups = slices.DeleteFunc(p.Groups, numeric)
	}
}

// checkGroups reports group terms of a formula that the columns cannot give.
func (b *checker) checkGroups(m *Model, f *Formula) {
	seen := make(map[string]bool)
	for _, g := range f.Groups {
		for _, t := range g.Terms {
			b.checkTerm(m, t)
		}
		b.checkGroup(m, g, seen)
	}
}

// checkColumns reports whether every column of the formula is declared.
func (b *checker) checkColumns(f *Formula) (known bool) {
	known = true
	for _, name := range f.columnsOf() {
		if b.Data.Column(name.V) == nil {
			known = false
			if !f.isFunction(name.V) {
				b.Undeclared(name)
			}
		}
	}
	for _, name := range []source.Value[string]{f.Event, f.Entry, f.Trials} {
		if c := b.Data.Column(name.V); c != nil && c.Derive != nil {
			b.Add(name.At, "name a column of the file", "column %s is derived", c.Name.V)
		}
	}
	return known
}

// derive declares the functions of columns that a formula has as derived columns.
func (b *checker) derive(functions []*core.Definition) {
	for _, f := range functions {
		if other := b.Data.Column(f.Name.V); other != nil {
			if other.Derive == nil || other.Derive.Expr.String() != f.Expr.String() {
				b.Add(other.Name.At, "give the column another name and keep this one as `header: "+other.HeaderName()+"`", "column %s has the name of %s, which the formula needs", other.Name.V, f.Expr)
			}
			continue
		}
		missing := false
		for _, name := range expr.Names(f.Expr) {
			c := b.Data.Column(name)
			missing = missing || c == nil || !c.Type.IsSet()
			if c == nil {
				b.Undeclared(source.Value[string]{V: name, At: f.Text.At})
			}
		}
		if missing {
			continue
		}
		c := &data.Column{Name: f.Name, Derive: &data.Derivation{Text: f.Text, Expr: f.Expr, InFormula: true}}
		err := b.Data.Complete(c)
		if err == nil && c.Numeric() {
			err = c.CheckRange()
		}
		if err != nil {
			hint := ""
			if c.Numeric() {
				hint = "declare it under data: derive: {NAME: {is: ..., lower: ..., upper: ...}}"
			}
			b.Add(f.Text.At, hint, "%s: %v", f.Name.V, err)
			continue
		}
		b.Data.Derived = append(b.Data.Derived, c)
	}
}

// transformArguments declares the transform log of a column that the model reads as log(x) alone, and so on. It
// decides only the unit in which Table 1 counts the column: bounds of a log are orders of magnitude apart, and
// equal cells between them have nearly all records in the first one.
func (b *checker) transformArguments(used map[string]bool) {
	named := make(map[string]int)
	for _, d := range b.Data.Derived {
		for _, name := range expr.Names(d.Derive.Expr) {
			named[name]++
		}
	}
	for _, d := range b.Data.Derived {
		call, ok := d.Derive.Expr.(*expr.Call)
		if !ok || len(call.Args) != 1 || !used[d.Name.V] {
			continue
		}
		of, ok := call.Args[0].Value.(*expr.Name)
		t := data.TransformNamed(call.Func)
		if !ok || t == nil || used[of.ID] || named[of.ID] > 1 || of.ID == b.Data.Weights.V {
			continue
		}
		stated := func(c *data.Column) bool { return c.Transform.IsSet() || c.Center.IsSet() || c.By.IsSet() || c.Buys() }
		if c := b.Data.Column(of.ID); c != nil && c.Derive == nil && (c.Type.V == data.Real || c.Type.V == data.Integer) && !stated(c) && t.Fits(c.Lower.V, c.Upper.V) {
			c.Transform = source.Value[string]{V: call.Func, At: d.Name.At}
		}
	}
}

// isFunction reports whether a term's name is a function of columns.
func (f *Formula) isFunction(name string) bool {
	return slices.ContainsFunc(f.Functions, func(d *core.Definition) bool { return d.Name.V == name })
}

// Complete reports whether every column of the formula has the levels that its
// coefficients are named after.
func (m *Model) Complete(d *data.Data) bool {
	names := m.Terms.columnsOf()
	for _, p := range m.Predicted {
		names = append(names, p.columnsOf()...)
	}
	for _, name := range names {
		c := d.Column(name.V)
		if c == nil || !c.Type.IsSet() || !c.Numeric() && len(c.Levels) == 0 {
			return false
		}
	}
	return true
}

// checkFamily reports a link that the family does not have.
func (b *checker) checkFamily(m *Model) *family {
	f := FamilyOf(m.Family.V)
	if f != nil && m.Link.IsSet() && f.Link(m.Link.V) == nil {
		b.Add(m.Link.At, "one of: "+strings.Join(f.LinkNames(), ", "), "family %s has no link %s", f.Name, m.Link.V)
		return nil
	}
	if f != nil && m.Terms != nil && f.Link(m.Link.V).positive && !m.Terms.Intercept {
		b.Add(m.Link.At, "write `1 +` in the formula", "link %s needs an intercept: from 0 on it has no slope", m.Link.V)
	}
	return f
}

// checkResponse reports a response that the family cannot observe.
func (b *checker) checkResponse(m *Model, c *data.Column, f *family) {
	at := m.Terms.Response.At
	if c.Type.IsSet() && !f.Observes(c) {
		var others []string
		for _, other := range families {
			if slices.Contains(other.types, c.Type.V) {
				others = append(others, other.Name)
			}
		}
		hint := c.Type.V + " columns are observed by family " + strings.Join(others, ", ")
		switch {
		case len(others) == 0:
			hint = ""
		case c.Type.V == data.Category && len(c.Levels) == 2 && slices.Contains(f.types, data.Binary):
			hint = "write `type: binary`"
		}
		b.Add(at, hint, "family %s needs a response of type %s, but %s is %s", f.Name, strings.Join(f.types, " or "), c.Name.V, c.Type.V)
		return
	}
	if f.counts && c.Lower.IsSet() && c.Lower.V < 0 {
		b.Add(c.Lower.At, "", "%s is a count: its lower bound must be at least 0, not %s", c.Name.V, source.FormatNumber(c.Lower.V))
	}
	if c.Missing.Rule == data.MissingImpute {
		b.Add(c.Missing.At, "use `reject`", "a response must not be imputed")
	}
}

// Observes reports whether a response may have the type of c.
func (f *family) Observes(c *data.Column) bool {
	return slices.Contains(f.types, c.Type.V)
}

// NeedsTrials reports whether the response of the formula lacks the number of trials of f.
func (f *family) NeedsTrials(of *Formula) bool {
	return f.trials && !of.Trials.IsSet() && !of.TrialsNumber.IsSet()
}

// checkResponseParts reports trials and events that the family or their columns
// cannot give.
func (b *checker) checkResponseParts(m *Model, f *family) {
	d, formula := b.Data, m.Terms
	given := formula.Trials.IsSet() || formula.TrialsNumber.IsSet()
	switch {
	case f == nil || f.trials == given:
	case f.NeedsTrials(formula):
		b.Add(formula.Response.At, "write "+formula.Response.V+" | trials(n)", "family %s needs the number of trials", f.Name)
	default:
		at := formula.Trials.At
		if formula.TrialsNumber.IsSet() {
			at = formula.TrialsNumber.At
		}
		b.Add(at, "", "family %s has no trials", f.Name)
	}
	if c := d.Column(formula.Response.V); formula.TrialsNumber.IsSet() && c != nil && c.Upper.IsSet() && c.Upper.V > formula.TrialsNumber.V {
		b.Add(c.Upper.At, "", "%s has at most %s successes: its upper bound must not be above", c.Name.V, source.FormatNumber(formula.TrialsNumber.V))
	}
	if c := d.Column(formula.Trials.V); c != nil && c.Type.IsSet() && c.Type.V != data.Integer {
		b.Add(formula.Trials.At, "", "the number of trials must be an integer, but %s is %s", c.Name.V, c.Type.V)
	}
	if c := d.Column(formula.Event.V); c != nil && c.Type.IsSet() && c.Type.V != data.Binary {
		b.Add(formula.Event.At, "1 when the time is known, 0 when it is censored", "the event must be binary, but %s is %s", c.Name.V, c.Type.V)
	}
	if c := d.Column(formula.Entry.V); c != nil && c.Type.IsSet() && !c.Numeric() {
		b.Add(formula.Entry.At, "in the unit of the time", "the entry must be a number, but %s is %s", c.Name.V, c.Type.V)
	}
	bound := formula.Lowest
	if !bound.IsSet() {
		bound = formula.Highest
	}
	if c := d.Column(formula.Response.V); bound.IsSet() && f != nil && f.scaled {
		switch {
		case m.Link.V != f.links[0].Name && m.Link.IsSet():
			b.Add(bound.At, "write it under core:", "a response of family %s is truncated under the link %s only", f.Name, f.links[0].Name)
		case c != nil && c.Transform.IsSet():
			b.Add(bound.At, "write it under core:", "%s has a transform and cannot be truncated in a formula", c.Name.V)
		}
	}
}

// checkEffects reports terms that only core blocks allow in a family with a linear
// predictor for each level of the response.
func (b *checker) checkEffects(m *Model, f *family) {
	if len(m.Terms.Offsets) > 0 {
		b.Add(m.Formula.At, "write core blocks", "family %s has no offsets in a formula", f.Name)
	}
	if len(m.GroupFormulas) > 0 {
		b.Add(m.GroupFormulas[0].Group.At, "write core blocks", "family %s has no group_formula", f.Name)
	}
	for _, g := range m.Terms.Groups {
		if g.correlated(b.Data) {
			b.Add(g.At, "write (1 + x || "+g.Group.V+")", "effects of groups do not correlate under family %s", f.Name)
		}
	}
}

// checkOffset reports an offset that is infinite within the bounds of its columns: log(x) of
// a column that may be 0. Such records would be far from all that the model predicts.
func (b *checker) checkOffset(o *core.Definition) {
	for _, name := range expr.Names(o.Expr) {
		if c := b.Data.Column(name); c == nil || !c.Type.IsSet() {
			return
		}
	}
	if err := b.Data.Defined(o.Expr); err != nil {
		b.Add(o.Text.At, "declare a `lower:` above 0, to which smaller values are clamped, or add a constant", "offset: %v", err)
	}
}

// checkTerm reports a response among the predictors.
func (b *checker) checkTerm(m *Model, t Term) {
	for _, c := range t.Columns {
		if c == m.Terms.Response.V || c == m.Terms.Event.V || slices.Contains(m.Terms.Compared, c) {
			b.Add(t.At, "", "the response %s cannot predict itself", c)
		}
	}
}

// checkGroup reports a group term over a column that is no category.
func (b *checker) checkGroup(m *Model, g GroupTerm, seen map[string]bool) {
	c := b.Data.Column(g.Group.V)
	switch {
	case seen[g.Group.V]:
		b.Add(g.Group.At, "write one term, (1 + x | "+g.Group.V+")", "two group terms for %s", g.Group.V)
	case g.Group.V == m.Terms.Response.V:
		b.Add(g.Group.At, "", "the response %s cannot group the records", g.Group.V)
	case c != nil && c.Numeric() && c.Type.IsSet():
		hint := "declare it as category with levels"
		if c.Type.V == data.Integer {
			hint = fmt.Sprintf("declare it as {type: category, levels: %s..%s}", source.FormatNumber(c.Lower.V), source.FormatNumber(c.Upper.V))
		}
		b.Add(g.Group.At, hint, "groups need a category, but %s is %s", c.Name.V, c.Type.V)
	}
	seen[g.Group.V] = true
}
