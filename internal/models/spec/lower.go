package spec

import (
	"strings"

	"d3p/internal/models/expr"
)

// Lower returns the model in the core language: the core blocks as they are, or
// what the formula or the twin stands for. The Spec must be free of mistakes.
//
// A formula `y ~ 1 + x + (1 | g)` becomes
//
//	dims:   coef: [x]; g: levels(g); g_coef: [Intercept]
//	params: Intercept, b [coef], sd_g [g_coef], z_g [g, g_coef], and the
//	        family's own parameters
//	let:    r_g: z_g * sd_g
//	rows:   eta: Intercept + columns(coef) @ b + r_g[g, 'Intercept']
//	        y: the family's distribution of eta
func (s *Spec) Lower() (*Core, Errors) {
	switch {
	case s.Core != nil:
		return s.Core, nil
	case s.Twin != nil:
		return s.lowerTwin()
	}
	l := &lowering{problems: &problems{}, model: s.Model, data: &s.Data, core: &Core{At: s.Model.At}}
	l.run()
	l.checkClashes()
	return l.core, l.sorted()
}

// Lowerable is Lower for a Spec with mistakes: it returns false when these stand
// in the way of looking at the model's expressions.
func (s *Spec) Lowerable() (*Core, bool) {
	for _, c := range s.Data.Columns {
		if !c.Type.IsSet() || !c.Numeric() && len(c.Levels) < 2 {
			return nil, false
		}
	}
	switch {
	case s.fronts() > 1:
		return nil, false
	case s.Twin != nil:
		if !s.Twin.lowerable(&s.Data) {
			return nil, false
		}
		core, _ := s.Lower()
		return core, core.parsed()
	case s.Core != nil:
		return s.Core, s.Core.parsed() && s.parsedNets()
	case s.Model == nil || s.Model.Terms == nil || !s.Model.complete(&s.Data):
		return nil, false
	}
	f := familyOf(s.Model.Family.V)
	if f == nil || f.link(s.Model.Link.V) == nil || f.intervals != (len(s.Model.Cuts) > 0) {
		return nil, false
	}
	for _, p := range s.Model.Priors {
		if p.Expr == nil {
			return nil, false
		}
	}
	core, _ := s.Lower()
	return core, core.parsed()
}

// parsed reports whether every expression of the core blocks could be read.
func (c *Core) parsed() bool {
	for _, list := range [][]*Definition{c.Params, c.Let, c.Latent, c.RowsLet, c.Observe} {
		for _, d := range list {
			if d.Expr == nil {
				return false
			}
		}
	}
	return true
}

// lowering turns one formula into core blocks.
type lowering struct {
	*problems
	model *Model
	data  *Data
	core  *Core
	eta   []string // the summands of the linear predictor
}

func (l *lowering) run() {
	m, f := l.model, familyOf(l.model.Family.V)
	effect, coef := "", " [coef]"
	if f.effects {
		response := l.data.Column(m.Terms.Response.V)
		l.core.Dims = append(l.core.Dims, &Dim{Name: Value[string]{response.Name.V, m.Formula.At}, Of: m.Terms.Response})
		l.dim("effect", response.effects())
		effect, coef = " [effect]", " [coef, effect]"
	}
	if m.Terms.Intercept && !f.replacesIntercept() {
		prior := priorIntercept
		if f.link(m.Link.V).positive {
			prior = priorPositive
		}
		l.param("Intercept", m.prior(prior, "Intercept"), effect)
		l.elements("Intercept")
		l.eta = append(l.eta, "Intercept")
	}
	labels := m.labels(l.data)
	if len(labels) > 0 {
		l.dim("coef", labels)
		l.param("b", m.prior(priorB, "b"), coef)
		l.elements("b")
		l.eta = append(l.eta, "columns(coef) @ b")
	}
	l.smooths()
	for _, g := range m.Terms.Groups {
		l.group(g)
	}
	for _, o := range m.Terms.Offsets {
		l.eta = append(l.eta, rawColumns(o.Expr, l.data).String())
	}
	if len(l.eta) == 0 {
		l.eta = []string{"0"}
	}
	for _, a := range f.aux {
		if l.predict(a) {
			continue
		}
		dims := ""
		switch {
		case f.cuts && a.name == "thresholds":
			levels := len(l.data.Column(m.Terms.Response.V).Levels)
			l.core.Dims = append(l.core.Dims, &Dim{Name: Value[string]{"threshold", m.Formula.At}, Size: Value[int]{levels - 1, m.Formula.At}})
			dims = " [threshold]"
		case f.intervals && a.name == "baseline":
			l.dim("interval", m.intervals())
			dims = " [interval]"
		}
		l.param(a.name, m.prior(a.prior, a.name), dims)
		l.elements(a.name)
	}
	l.raw(f, labels)
	l.define(&l.core.RowsLet, "eta", Value[string]{strings.Join(l.eta, " + "), m.Formula.At})
	l.define(&l.core.Observe, m.Terms.Response.V, Value[string]{l.observation(f), m.Formula.At})
}

// observation is how the family observes the response.
func (l *lowering) observation(f *family) string {
	m := l.model
	text := strings.Replace(f.link(m.Link.V).observe, "response.", m.Terms.Response.V+".", 1)
	if m.Terms.Trials.IsSet() {
		text = strings.Replace(text, "trials", "raw("+m.Terms.Trials.V+")", 1)
	}
	if f.intervals {
		text = strings.Replace(text, "cuts", m.cutsText(), 1)
	}
	if m.Terms.Event.IsSet() {
		text = "censored(" + text + ", " + m.Terms.Event.V + ")"
	}
	return text
}

// columnText is the expression of a coefficient's column.
func (l *lowering) columnText(label string) string {
	if isName(label) {
		return label
	}
	return "column(" + (&expr.Text{Value: label}).String() + ")"
}

// dim adds a dim with labels.
func (l *lowering) dim(name string, labels []string) {
	d := &Dim{Name: Value[string]{name, l.model.Formula.At}}
	for _, label := range labels {
		d.Labels = append(d.Labels, Value[string]{label, l.model.Formula.At})
	}
	l.core.Dims = append(l.core.Dims, d)
}

// param adds a parameter with its prior.
func (l *lowering) param(name string, prior Value[string], dims string) {
	prior.V += dims
	l.define(&l.core.Params, name, prior)
}

// elements adds the priors of single elements of a parameter.
func (l *lowering) elements(name string) {
	l.core.Params = append(l.core.Params, l.model.elementPriors(name)...)
}

// define adds a named expression.
func (l *lowering) define(list *[]*Definition, name string, text Value[string]) {
	e := parseExpr(text, l.problems)
	if e != nil {
		text.V = e.String()
	}
	*list = append(*list, &Definition{Name: Value[string]{name, text.At}, Text: text, Expr: e})
}

// checkClashes reports columns whose names the lowered model needs.
func (l *lowering) checkClashes() {
	taken := make(map[string]string)
	for _, d := range l.core.Params {
		taken[d.Name.V] = "parameter"
	}
	for _, d := range append(l.core.Let, l.core.RowsLet...) {
		taken[d.Name.V] = "quantity"
	}
	for _, d := range l.core.Dims {
		if !d.Of.IsSet() {
			taken[d.Name.V] = "dim"
		}
	}
	for _, c := range l.data.Columns {
		if what := taken[c.Name.V]; what != "" {
			l.add(c.Name.At, "give the column another name and keep this one as `header: "+c.HeaderName()+"`", "column %s has the name of a %s of the model", c.Name.V, what)
		}
	}
}
