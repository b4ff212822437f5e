package spec

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/source"
	"d3p/internal/models/twin"
)

// readCore reads `core:`.
func (s *Spec) readCore(r *reader, e entry) {
	s.Core = &core.Core{At: e.at}
	r.object(e, "core", coreFields(s.Core))
}

// coreFields are the keys of `core:`.
func coreFields(c *core.Core) []field {
	return []field{
		named("dims", &c.Dims, readDim, func(p *printer, d *core.Dim) { p.line(d.Name.V, dimText(d)) }).means("named sizes: a list of labels, a number, or levels(column)"),
		constraints(&c.Constraints).means("conditions that every synthetic record meets: expressions of columns, in the unit of the file"),
		definitions("params", &c.Params).means("name: prior [dim, ...]; the prior's support is the parameter's range; name[label]: prior gives one element its own; priors may name other parameters"),
		definitions("let", &c.Let).means("functions of parameters, reported with the results"),
		mapping("rows", []field{
			definitions("latent", &c.Latent).means("local latents of a record, with normal priors; guide: rows: has their guides"),
			definitions("let", &c.RowsLet).means("quantities of one record"),
			definitions("observe", &c.Observe).means("column: distribution, or dim: distribution for the columns that label a dim"),
		}).means("one record").when(len(c.RowsLet)+len(c.Observe) > 0),
	}
}

// readDim reads one line of `dims:`.
func readDim(r *reader, e entry) (*core.Dim, bool) {
	d := &core.Dim{Name: e.name()}
	if _, ok := e.node.(*ast.SequenceNode); ok {
		d.Labels = r.texts(e)
		r.unique("label", d.Labels)
		if len(d.Labels) == 0 {
			r.Add(e.at, "", "dim %s has no labels", e.key)
		}
	} else if v := r.text(e); v.IsSet() {
		r.dimSize(v, d)
	}
	return d, true
}

// dimText prints the value of a dim.
func dimText(d *core.Dim) string {
	switch {
	case d.Size.IsSet():
		return strconv.Itoa(d.Size.V)
	case d.Of.IsSet():
		return "levels(" + d.Of.V + ")"
	}
	return flowList(d.Labels, func(v source.Value[string]) string { return v.V })
}

// constraints is a list of conditions on records.
func constraints(at *[]*core.Constraint) field {
	return field{key: "constraints",
		read: func(r *reader, e entry) {
			for _, text := range r.texts(e) {
				*at = append(*at, &core.Constraint{Text: text, Expr: source.ParseExpr(text, r.Problems)})
			}
		},
		stated: func() bool { return len(*at) > 0 },
		print: func(p *printer) {
			p.line("constraints", flowList(*at, func(c *core.Constraint) string { return c.Text.V }))
		}}
}

// dimSize reads a number or levels(column).
func (r *reader) dimSize(v source.Value[string], d *core.Dim) {
	if n, err := strconv.Atoi(v.V); err == nil {
		if n < 1 {
			r.Add(v.At, "", "dim %s must have at least one element, not %d", d.Name.V, n)
		}
		d.Size = source.Value[int]{V: n, At: v.At}
		return
	}
	if e, errs := expr.Parse(v.V, v.At); len(errs) == 0 {
		if c, ok := e.(*expr.Call); ok && c.Func == "levels" && len(c.Args) == 1 {
			if n, ok := c.Args[0].Value.(*expr.Name); ok {
				d.Of = source.Value[string]{V: n.ID, At: n.At}
				return
			}
		}
	}
	r.Add(v.At, "write a list of labels, a number, or levels(column)", "dim %s cannot be %s", d.Name.V, strings.TrimSpace(v.V))
}

// Lower returns the model in the core language: the core blocks, or the lowered formula
// or twin. The Spec must be free of mistakes.
//
// A formula `y ~ 1 + x + (1 | g)` becomes
//
//	dims:   coef: [x]; g: levels(g); g_coef: [Intercept]
//	params: Intercept, b [coef], sd_g [g_coef], z_g [g, g_coef], and the
//	        family's own parameters
//	let:    r_g: z_g * sd_g
//	rows:   eta: Intercept + columns(coef) @ b + r_g[g, 'Intercept']
//	        y: the family's distribution of eta
func (s *Spec) Lower() (*core.Core, expr.Errors) {
	switch {
	case s.Core != nil:
		return s.Core, nil
	case s.Twin != nil:
		return twin.Lower(s.Twin, &s.Data)
	}
	return formula.Lower(s.Model, &s.Data)
}

// Lowerable is Lower for a Spec with mistakes: it returns no core if they prevent a check
// of the model's expressions.
func (s *Spec) Lowerable() (*core.Core, expr.Errors) {
	for _, c := range s.Data.Columns {
		if !c.Type.IsSet() || !c.Numeric() && len(c.Levels) < 2 {
			return nil, nil
		}
	}
	switch {
	case s.fronts() > 1:
		return nil, nil
	case s.Twin != nil:
		if !s.Twin.Lowerable(&s.Data) {
			return nil, nil
		}
		return parsed(s.Lower())
	case s.Core != nil && s.parsedNets():
		return parsed(s.Core, nil)
	case s.Core != nil:
		return nil, nil
	case s.Model == nil || s.Model.Terms == nil || !s.Model.Complete(&s.Data):
		return nil, nil
	}
	f := formula.FamilyOf(s.Model.Family.V)
	if f == nil || f.Link(s.Model.Link.V) == nil || !f.Observes(s.Data.Column(s.Model.Terms.Response.V)) || f.NeedsTrials(s.Model.Terms) || f.Intervals != (len(s.Model.Cuts) > 0) {
		return nil, nil
	}
	for _, p := range s.Model.Priors {
		if p.Expr == nil {
			return nil, nil
		}
	}
	return parsed(s.Lower())
}

// parsed leaves a core away that has mistakes, or expressions that could not be parsed.
func parsed(c *core.Core, errs expr.Errors) (*core.Core, expr.Errors) {
	if len(errs) > 0 || !c.Parsed() {
		return nil, errs
	}
	return c, nil
}

// likelihoodField is `likelihood:`.
func (s *Spec) likelihoodField() field {
	l := &s.Likelihood
	f := inline("likelihood", []field{
		choice("divergence", &l.Divergence, core.DivergenceBeta).means("replaces log f of a record by f^(β-1)/(β-1) - (1/β) ∫ f^β"),
		value("beta", &l.Beta, (*reader).beta).means("β, above 1; default 1.5; near 1 it is the log likelihood"),
		count("views", &l.Views, 1).means("how often a step looks at each record, each time with other numbers of what is random for a record: augment, dropout, local latents; the mean of the gradients is clipped; default 1"),
		inline("gibbs", []field{positive("weight", &l.Weight).needed("add `weight: 0.5`, or leave gibbs out", "gibbs has no weight").means("a positive number")}).means("multiplies the score of every record").when(l.Weight.IsSet()),
	}).means("another score than the log likelihood, against outliers, or the mean of several").when(l.Divergence.IsSet() || l.Beta.IsSet() || l.Weight.IsSet() || l.Views.IsSet())
	read := f.read
	f.read = func(r *reader, e entry) {
		read(r, e)
		if l.Beta.IsSet() && !l.IsBeta() {
			r.Add(l.Beta.At, "add `divergence: beta`", "beta is of a beta divergence")
		}
		if l.Views.V > core.MaxViews {
			r.Add(l.Views.At, "write fewer", "at most %d views are possible, not %d", core.MaxViews, l.Views.V)
		}
	}
	return f
}

// beta is above 1: at 1 the divergence is the log likelihood.
func (r *reader) beta(e entry) source.Value[float64] {
	return r.numberIn(e, "above 1 and at most 100", func(x float64) bool { return x > 1 && x <= 100 })
}
