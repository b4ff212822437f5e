package spec

import (
	"fmt"
	"slices"
	"strings"
)

// check reports what is wrong between the blocks.
func (b *blocks) check() {
	s := b.spec
	top := Position{File: s.File, Line: 1, Column: 1}
	if !b.has("data") {
		b.add(top, "", "the model file has no data block")
	}
	switch {
	case s.Model != nil && s.Core != nil:
		b.add(s.Core.At, "keep one: `d3p render` turns a model into core blocks", "model and core both describe the model")
	case s.fronts() > 1:
		b.add(s.Twin.At, "keep one: `d3p render --core` turns each into core blocks", "the file also has model or core, which describe the model, too")
	case s.Model == nil && s.Core == nil && !b.has("model") && !b.has("core") && !b.has("twin"):
		b.add(top, "add `model:` with a formula", "the model file has no model block")
	}
	b.checkSettings()
	b.checkNames()
	if s.Model != nil && len(s.Data.Columns) > 0 {
		b.checkModel(s.Model)
	} else if s.Core != nil {
		b.unused(s.Core.usedBy(&s.Data))
	} else if s.Twin != nil {
		b.checkTwin(s.Twin)
	}
}

// checkNames reports columns that share a name with a header of another one.
func (b *blocks) checkNames() {
	d := &b.spec.Data
	headers := make(map[string]*Column)
	for _, c := range d.Columns {
		if other := headers[c.HeaderName()]; other != nil {
			b.add(c.Name.At, "", "columns %s and %s read the same header", other.Name.V, c.Name.V)
		}
		headers[c.HeaderName()] = c
	}
	if id := d.Unit.ID; id.IsSet() {
		if headers[id.V] != nil {
			b.add(id.At, "leave it out of columns", "the unit's id %s must not be a column of the model", id.V)
		}
		for _, c := range d.Drop {
			if c.V == id.V {
				b.add(c.At, "leave it out of drop: the model sees no ids", "column %s is dropped, but it names the unit", c.V)
			}
		}
	}
}

// checkModel reports what is wrong between a formula, its family and the data.
func (b *blocks) checkModel(m *Model) {
	d := &b.spec.Data
	f := b.checkFamily(m)
	if m.Terms == nil {
		return
	}
	m.Terms.expand(d)
	known := true
	for _, name := range m.Terms.columnsOf() {
		if d.Column(name.V) == nil {
			known = false
			b.undeclared(name)
		}
	}
	known = b.checkPredicted(m, f) && known
	if c := d.Column(m.Terms.Response.V); c != nil && f != nil {
		b.checkResponse(m, c, f)
	}
	b.checkResponseParts(m, f)
	b.checkCuts(m, f)
	for _, t := range m.Terms.Terms {
		b.checkTerm(m, t)
	}
	b.checkSmooths(m)
	groups := make(map[string]bool)
	for _, g := range m.Terms.Groups {
		for _, t := range g.Terms {
			b.checkTerm(m, t)
		}
		b.checkGroup(m, g, groups)
	}
	if f != nil && f.effects && len(m.Terms.Groups)+len(m.Terms.Offsets)+len(m.Terms.Smooths) > 0 {
		b.add(m.Formula.At, "write core blocks", "family %s has no group terms, curves and offsets in a formula", f.name)
	}
	b.checkGroupFormulas(m)
	if known && f != nil && m.complete(d) {
		b.checkPriors(m, f)
	}
	used := m.Terms.usedBy()
	for _, p := range m.Predicted {
		for _, c := range p.columns() {
			used[c.V] = true
		}
	}
	b.unused(used)
	// what has no levels was said to have none, and is not lowered to say so again
	m.Terms.Groups = slices.DeleteFunc(m.Terms.Groups, func(g GroupTerm) bool {
		c := d.Column(g.Group.V)
		return c != nil && c.Numeric()
	})
}

// complete reports whether every column of the formula has the levels that its
// coefficients are named after.
func (m *Model) complete(d *Data) bool {
	names := m.Terms.columnsOf()
	for _, p := range m.Predicted {
		names = append(names, p.columns()...)
	}
	for _, name := range names {
		c := d.Column(name.V)
		if c == nil || !c.Type.IsSet() || !c.Numeric() && len(c.Levels) == 0 {
			return false
		}
	}
	return true
}

// undeclared reports a column that the data block does not declare.
func (b *blocks) undeclared(name Value[string]) {
	d := &b.spec.Data
	for _, c := range d.Drop {
		if c.V == name.V {
			b.add(name.At, "declare it under columns instead", "column %s is dropped on line %d", name.V, c.At.Line)
			return
		}
	}
	b.add(name.At, suggest(name.V, "columns", d.columnNames()), "undeclared column %s", name.V)
}

// checkFamily reports a link that the family does not have.
func (b *blocks) checkFamily(m *Model) *family {
	f := familyOf(m.Family.V)
	if f != nil && m.Link.IsSet() && f.link(m.Link.V) == nil {
		b.add(m.Link.At, "one of: "+strings.Join(f.linkNames(), ", "), "family %s has no link %s", f.name, m.Link.V)
		return nil
	}
	if f != nil && m.Terms != nil && f.link(m.Link.V).positive && !m.Terms.Intercept {
		b.add(m.Link.At, "write `1 +` in the formula", "link %s needs an intercept: from 0 on it has no slope", m.Link.V)
	}
	return f
}

// checkResponse reports a response that the family cannot observe.
func (b *blocks) checkResponse(m *Model, c *Column, f *family) {
	at := m.Terms.Response.At
	if c.Type.IsSet() && !contains(f.types, c.Type.V) {
		var others []string
		for _, other := range families {
			if contains(other.types, c.Type.V) {
				others = append(others, other.name)
			}
		}
		hint := c.Type.V + " columns are observed by family " + strings.Join(others, ", ")
		if len(others) == 0 {
			hint = ""
		}
		b.add(at, hint, "family %s needs a response of type %s, but %s is %s", f.name, strings.Join(f.types, " or "), c.Name.V, c.Type.V)
		return
	}
	if f.counts && c.Lower.IsSet() && c.Lower.V < 0 {
		b.add(c.Lower.At, "", "%s is a count: its lower bound must be at least 0, not %s", c.Name.V, formatNumber(c.Lower.V))
	}
	if c.Missing.Rule == MissingImpute {
		b.add(c.Missing.At, "use `reject`", "a response must not be imputed")
	}
}

// checkResponseParts reports trials and events that the family or their columns
// cannot give.
func (b *blocks) checkResponseParts(m *Model, f *family) {
	d, formula := &b.spec.Data, m.Terms
	if f != nil && (f.name == "binomial") != formula.Trials.IsSet() {
		if f.name == "binomial" {
			b.add(formula.Response.At, "write "+formula.Response.V+" | trials(n)", "family binomial needs the number of trials")
		} else {
			b.add(formula.Trials.At, "", "family %s has no trials", f.name)
		}
	}
	if c := d.Column(formula.Trials.V); c != nil && c.Type.IsSet() && c.Type.V != Integer {
		b.add(formula.Trials.At, "", "the number of trials must be an integer, but %s is %s", c.Name.V, c.Type.V)
	}
	if c := d.Column(formula.Event.V); c != nil && c.Type.IsSet() && c.Type.V != Binary {
		b.add(formula.Event.At, "1 when the time is known, 0 when it is censored", "the event must be binary, but %s is %s", c.Name.V, c.Type.V)
	}
}

// checkTerm reports a response among the predictors and columns that repeat.
func (b *blocks) checkTerm(m *Model, t Term) {
	for i, c := range t.Columns {
		if c == m.Terms.Response.V || c == m.Terms.Event.V {
			b.add(t.At, "", "the response %s cannot predict itself", c)
		}
		if contains(t.Columns[:i], c) {
			b.add(t.At, "", "%s appears twice in %s", c, t)
		}
	}
}

// checkGroup reports a group term over what is no category.
func (b *blocks) checkGroup(m *Model, g GroupTerm, seen map[string]bool) {
	c := b.spec.Data.Column(g.Group.V)
	switch {
	case seen[g.Group.V]:
		b.add(g.Group.At, "write one term, (1 + x | "+g.Group.V+")", "two group terms for %s", g.Group.V)
	case g.Group.V == m.Terms.Response.V:
		b.add(g.Group.At, "", "the response %s cannot group the records", g.Group.V)
	case c != nil && c.Numeric() && c.Type.IsSet():
		hint := "declare it as category with levels"
		if c.Type.V == Integer {
			hint = fmt.Sprintf("declare it as {type: category, levels: %s..%s}", formatNumber(c.Lower.V), formatNumber(c.Upper.V))
		}
		b.add(g.Group.At, hint, "groups need a category, but %s is %s", c.Name.V, c.Type.V)
	}
	seen[g.Group.V] = true
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
