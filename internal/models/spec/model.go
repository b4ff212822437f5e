package spec

import (
	"strings"

	"d3p/internal/models/expr"
)

// Model is the formula front end: a generalised linear model in one line.
type Model struct {
	At              Position
	Formula         Value[string]
	Terms           *Formula // the parsed formula; nil when it has mistakes
	Family          Value[string]
	Link            Value[string]
	Parametrisation Value[string] // of group effects: non_centred (default) or centred
	Priors          []*Definition // by parameter: Intercept, b, b[age], sd, sigma
	GroupFormulas   []*GroupFormula
	Predicted       []*Predicted     // parameters of the family with formulas of their own
	Cuts            []Value[float64] // of piecewise_exponential: where the hazard changes, in the unit of the file
}

// GroupFormula says how the effects of a group depend on its public table:
// `hospital: 1 + beds + teaching`.
type GroupFormula struct {
	Group Value[string]
	Text  Value[string]
	Terms []Term
}

// groupFormulas reads `group_formula:`.
func (r *reader) groupFormulas(e entry) []*GroupFormula {
	list, ok := r.entries(e.node, "group_formula")
	if !ok {
		return nil
	}
	var formulas []*GroupFormula
	for _, e := range list {
		if e.node == nil {
			continue
		}
		g := &GroupFormula{Group: Value[string]{e.key, e.at}, Text: r.text(e)}
		if g.Text.IsSet() {
			_, g.Terms = parseTerms(g.Text, r.problems)
			formulas = append(formulas, g)
		}
	}
	return formulas
}

// Definition is a named expression of the model file.
type Definition struct {
	Name Value[string]
	Text Value[string]
	Expr expr.Expr // the parsed Text; nil when it has mistakes
}

// model reads `model:`. The parameters that a family has beside the linear
// predictor may have their priors here too, `nu: gamma(2, 0.1)`, or a formula,
// `sigma: 1 + arm`.
func (r *reader) model(e entry) *Model {
	m := &Model{At: e.at}
	known := fields{
		"formula":         func(e entry) { m.Formula = r.text(e) },
		"family":          func(e entry) { m.Family = r.choice(e, FamilyNames()...) },
		"link":            func(e entry) { m.Link = r.text(e) },
		"parametrisation": func(e entry) { m.Parametrisation = r.choice(e, "non_centred", "centred") },
		"priors":          func(e entry) { m.Priors = append(m.Priors, r.definitions(e)...) },
		"group_formula":   func(e entry) { m.GroupFormulas = r.groupFormulas(e) },
		"cuts":            func(e entry) { m.Cuts = r.cuts(e) },
	}
	for _, name := range auxNames() {
		known[name] = func(e entry) { r.auxiliary(e, m) }
	}
	keys := r.object(e.node, "model", known)
	if keys == nil {
		return m
	}
	if !keys["family"] {
		r.add(e.at, "add `family:` with one of "+strings.Join(FamilyNames(), ", "), "model has no family")
	}
	if !keys["formula"] {
		r.add(e.at, "add `formula: y ~ 1 + x`", "model has no formula")
	} else if m.Formula.IsSet() {
		m.Terms = parseFormula(m.Formula, r.problems)
	}
	return m
}

// definitions reads a mapping of names to expressions, in file order.
func (r *reader) definitions(e entry) []*Definition {
	list, ok := r.entries(e.node, e.key)
	if !ok {
		return nil
	}
	var defs []*Definition
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
func (r *reader) definition(e entry) *Definition {
	d := &Definition{Name: Value[string]{e.key, e.at}, Text: r.text(e)}
	if !d.Text.IsSet() {
		return nil
	}
	d.Expr = parseExpr(d.Text, r.problems)
	return d
}

// parseExpr parses a text of the model file as an expression.
func parseExpr(text Value[string], p *problems) expr.Expr {
	e, errs := expr.Parse(text.V, text.At)
	p.list = append(p.list, errs...)
	return e
}
