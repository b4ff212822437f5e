package spec

import (
	"maps"
	"slices"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/formula"
	"d3p/internal/models/source"
)

// modelFields are the keys of `model:`. The parameters of a family besides the linear
// predictor may have their priors here, `nu: gamma(2, 0.1)`, or a formula, `sigma: 1 +
// arm`.
func (s *Spec) modelFields() []field {
	m := s.Model
	fields := []field{
		text("formula", &m.Formula).needed("add `formula: y ~ 1 + x`", "model has no formula").
			printed(func(p *printer) { p.text("formula", m.Terms.String()) }).means("response ~ terms; see d3p help formula"),
		choice("family", &m.Family, slices.Concat(formula.FamilyNames(), formula.BrmsNames())...).
			needed("add `family:` with one of "+strings.Join(formula.FamilyNames(), ", "), "model has no family").
			as(func() string { return formula.FamilyOf(m.Family.V).Name }).means("of the response; see d3p help families"),
		text("link", &m.Link).as(func() string { return formula.FamilyOf(m.Family.V).Link(m.Link.V).Name }).means("a function of the mean that equals the linear predictor; default: the family's first"),
		list("cuts", &m.Cuts, (*reader).cuts).means("times, in the unit of the file, between the intervals of piecewise_exponential"),
	}
	for _, name := range formula.AuxiliaryNames() {
		fields = append(fields, auxiliary(m, name).means("a parameter of the family: its prior, or a formula for its logarithm (for zi and hu the log odds)"))
	}
	return append(fields,
		named("group_formula", &m.GroupFormulas, readGroupFormula, func(p *printer, f *formula.GroupFormula) {
			p.text(f.Group.V, formula.SumText(true, f.Terms))
		}).means("group: a formula of the group's public table that predicts its effects, with coefficients g_GROUP"),
		choice("parametrisation", &m.Parametrisation, "non_centred", "centred").or("non_centred").means("of group effects: non_centred (the default) suits small groups").when(m.Terms != nil && len(m.AllGroups()) > 0),
		definitions("priors", &m.Priors).printed(func(p *printer) {
			core, _ := s.Lower()
			if all := m.AllPriors(core); len(all) > 0 {
				definitions("priors", &all).print(p)
			}
		}).means("by class (Intercept, b, s, sd, cor, g) or by coefficient, b[age]; on declared scales"),
	)
}

// readModel reads `model:`.
func (s *Spec) readModel(r *reader, e entry) {
	s.Model = &formula.Model{At: e.at}
	m := s.Model
	keys := r.object(e, "model", s.modelFields())
	if keys == nil {
		return
	}
	m.Rename()
	s.settlePriors(r)
	if m.Formula.IsSet() {
		m.Terms = formula.Parse(m.Formula, r.Problems)
	}
}

// settlePriors puts the default priors that follow from Table 1 in their place.
func (s *Spec) settlePriors(r *reader) {
	m := s.Model
	for _, name := range slices.Sorted(maps.Keys(s.bought.Priors)) {
		text := source.Value[string]{V: s.bought.Priors[name], At: m.At}
		m.Priors = slices.DeleteFunc(m.Priors, func(p *core.Definition) bool { return p.Name.V == name })
		m.Priors = append(m.Priors, &core.Definition{Name: source.Value[string]{V: name, At: m.At}, Text: text, Expr: source.ParseExpr(text, r.Problems)})
	}
}

// readGroupFormula reads one line of `group_formula:`.
func readGroupFormula(r *reader, e entry) (*formula.GroupFormula, bool) {
	g := &formula.GroupFormula{Group: e.name(), Text: r.text(e)}
	if g.Text.IsSet() {
		_, g.Terms = formula.ParseTerms(g.Text, r.Problems)
	}
	return g, g.Text.IsSet()
}

// readDefinition reads one named expression.
func readDefinition(r *reader, e entry) (*core.Definition, bool) {
	d := &core.Definition{Name: e.name(), Text: r.text(e)}
	if d.Text.IsSet() {
		d.Expr = source.ParseExpr(d.Text, r.Problems)
	}
	return d, d.Text.IsSet()
}

// auxiliary is a value beside `family:` for one of its parameters: a prior, which is a
// call, or a formula.
func auxiliary(m *formula.Model, name string) field {
	predicted := func() *formula.Predicted {
		for _, p := range m.Predicted {
			if p.Name.V == name {
				return p
			}
		}
		return nil
	}
	return field{key: name,
		read: func(r *reader, e entry) {
			text := r.text(e)
			switch {
			case !text.IsSet():
			case isPrior(text.V):
				m.Priors = append(m.Priors, &core.Definition{Name: e.name(), Text: text, Expr: source.ParseExpr(text, r.Problems)})
			default:
				m.Predicted = append(m.Predicted, formula.NewPredicted(e.name(), text, r.Problems))
			}
		},
		stated: func() bool { return predicted() != nil },
		print: func(p *printer) {
			p.text(name, predicted().String())
		}}
}

// isPrior reports whether the value of a family's parameter is a distribution, such as
// gamma(2, 0.1), and no formula.
func isPrior(text string) bool {
	name, _, call := strings.Cut(strings.TrimSpace(text), "(")
	return call && source.IsName(name) && name != "poly" && name != "spline"
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
