package spec

import (
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/formula"
	"d3p/internal/models/source"
)

// groupFormulas reads `group_formula:`.
func (r *reader) groupFormulas(e entry) []*formula.GroupFormula {
	list, ok := r.entries(e.node, "group_formula")
	if !ok {
		return nil
	}
	var formulas []*formula.GroupFormula
	for _, e := range list {
		if e.node == nil {
			continue
		}
		g := &formula.GroupFormula{Group: source.Value[string]{V: e.key, At: e.at}, Text: r.text(e)}
		if g.Text.IsSet() {
			_, g.Terms = formula.ParseTerms(g.Text, r.Problems)
			formulas = append(formulas, g)
		}
	}
	return formulas
}

// model reads `model:`. The parameters that a family has beside the linear
// predictor may have their priors here too, `nu: gamma(2, 0.1)`, or a formula,
// `sigma: 1 + arm`.
func (r *reader) model(e entry) *formula.Model {
	m := &formula.Model{At: e.at}
	known := fields{
		"formula":         func(e entry) { m.Formula = r.text(e) },
		"family":          func(e entry) { m.Family = r.choice(e, append(formula.FamilyNames(), formula.BrmsNames()...)...) },
		"link":            func(e entry) { m.Link = r.text(e) },
		"parametrisation": func(e entry) { m.Parametrisation = r.choice(e, "non_centred", "centred") },
		"priors":          func(e entry) { m.Priors = append(m.Priors, r.definitions(e)...) },
		"group_formula":   func(e entry) { m.GroupFormulas = r.groupFormulas(e) },
		"cuts":            func(e entry) { m.Cuts = r.cuts(e) },
	}
	for _, name := range formula.AuxiliaryNames() {
		known[name] = func(e entry) { r.auxiliary(e, m) }
	}
	keys := r.object(e.node, "model", known)
	if keys == nil {
		return m
	}
	m.Rename()
	if !keys["family"] {
		r.Add(e.at, "add `family:` with one of "+strings.Join(formula.FamilyNames(), ", "), "model has no family")
	}
	if !keys["formula"] {
		r.Add(e.at, "add `formula: y ~ 1 + x`", "model has no formula")
	} else if m.Formula.IsSet() {
		m.Terms = formula.Parse(m.Formula, r.Problems)
	}
	return m
}

// definitions reads a mapping of names to expressions, in file order.
func (r *reader) definitions(e entry) []*core.Definition {
	list, ok := r.entries(e.node, e.key)
	if !ok {
		return nil
	}
	var defs []*core.Definition
	for _, e := range list {
		if e.node == nil {
			continue
		}
		if d := r.definition(e); d != nil {
			defs = append(defs, d)
		}
	}
	return defs
}

// definition reads one named expression.
func (r *reader) definition(e entry) *core.Definition {
	d := &core.Definition{Name: source.Value[string]{V: e.key, At: e.at}, Text: r.text(e)}
	if !d.Text.IsSet() {
		return nil
	}
	d.Expr = source.ParseExpr(d.Text, r.Problems)
	return d
}

// auxiliary reads what stands beside `family:` for one of its parameters: a
// prior, which is a call, or a formula.
func (r *reader) auxiliary(e entry, m *formula.Model) {
	text := r.text(e)
	if !text.IsSet() {
		return
	}
	if strings.Contains(text.V, "(") {
		m.Priors = append(m.Priors, &core.Definition{Name: source.Value[string]{V: e.key, At: e.at}, Text: text, Expr: source.ParseExpr(text, r.Problems)})
		return
	}
	p := &formula.Predicted{Name: source.Value[string]{V: e.key, At: e.at}, Text: text}
	p.Intercept, p.Terms = formula.ParseTerms(text, r.Problems)
	m.Predicted = append(m.Predicted, p)
}

// cuts reads `cuts: [30, 90, 365]`, the times at which the hazard of a
// piecewise exponential changes.
func (r *reader) cuts(e entry) []source.Value[float64] {
	list := r.numbers(e)
	for i, c := range list {
		switch {
		case c.V <= 0:
			r.Add(c.At, "the first interval starts at 0", "a cut must be positive, not %s", source.FormatNumber(c.V))
		case i > 0 && c.V <= list[i-1].V:
			r.Add(c.At, "", "the cuts must increase, but %s follows %s", source.FormatNumber(c.V), source.FormatNumber(list[i-1].V))
		}
	}
	return list
}
