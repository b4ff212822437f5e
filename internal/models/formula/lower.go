package formula

import (
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/naming"
	"d3p/internal/models/source"
)

// lowering turns one formula into core blocks.
type lowering struct {
	*core.Builder
	model *Model
	eta   []string // the summands of the linear predictor
	// effect is ", effect" after the dims of coefficients that every level of the response
	// has for itself; "" for families with one linear predictor.
	effect string
}

// Lower returns a formula in the core language.
func Lower(m *Model, d *data.Data) (*core.Core, expr.Errors) {
	l := &lowering{Builder: core.NewBuilder(m.At, d), model: m}
	l.run()
	l.CheckClashes()
	return l.Core, l.Sorted()
}

func (l *lowering) run() {
	m, f := l.model, FamilyOf(l.model.Family.V)
	effect, coef := "", " [coef]"
	if f.effects {
		response := l.Data.Column(m.Terms.Response.V)
		l.AddDim(&core.Dim{Name: source.Value[string]{V: response.Name.V, At: m.Formula.At}, Of: m.Terms.Response})
		l.dim("effect", response.Effects())
		effect, coef, l.effect = " [effect]", " [coef, effect]", ", effect"
	}
	if m.Terms.Intercept && !f.replacesIntercept() {
		prior := priorIntercept
		if f.Link(m.Link.V).positive {
			prior = priorPositive
		}
		l.Param(naming.Intercept, m.prior(prior, naming.Intercept), effect)
		l.elements(naming.Intercept)
		l.eta = append(l.eta, naming.Intercept)
	}
	labels := m.Terms.labels(l.Data)
	if len(labels) > 0 {
		l.dim("coef", labels)
		l.Param(naming.Slopes, m.prior(priorB, naming.Slopes), coef)
		l.elements(naming.Slopes)
		l.eta = append(l.eta, "columns(coef) @ b")
	}
	if len(labels) > 0 {
		l.predictor(f)
	}
	l.eta = append(l.eta, l.smooths(m.Terms)...)
	for _, g := range m.Terms.Groups {
		l.eta = append(l.eta, l.group(g)...)
	}
	for _, o := range m.Terms.Offsets {
		l.eta = append(l.eta, rawColumns(o.Expr, l.Data).String())
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
		case f.cuts && a.name == naming.Thresholds:
			levels := len(l.Data.Column(m.Terms.Response.V).Levels)
			l.AddDim(&core.Dim{Name: source.Value[string]{V: "threshold", At: m.Formula.At}, Size: source.Value[int]{V: levels - 1, At: m.Formula.At}})
			dims = " [threshold]"
		case f.Intervals && a.name == naming.Baseline:
			l.dim("interval", m.intervals())
			dims = " [interval]"
		}
		l.Param(a.name, m.prior(m.auxPrior(a, l.Data), a.name), dims)
		l.elements(a.name)
	}
	l.raw(f, labels)
	l.Define(&l.Core.RowsLet, naming.Predictor, source.Value[string]{V: strings.Join(l.eta, " + "), At: m.Formula.At})
	l.Define(&l.Core.Observe, m.Terms.Response.V, source.Value[string]{V: l.observation(f), At: m.Formula.At})
}

// predictor notes the linear predictor of the response, if it consists of single numbers.
func (l *lowering) predictor(f *family) {
	p := &core.Predictor{Coefficients: naming.Slopes, Dim: "coef"}
	switch {
	case f.cuts:
		p.Level, p.Cuts = naming.Thresholds, true
	case f.Intervals:
		p.Level = naming.Baseline
	case l.model.Terms.Intercept:
		p.Level = naming.Intercept
	}
	l.Core.Predictors = append(l.Core.Predictors, p)
}

// observation is the family's distribution of the response.
func (l *lowering) observation(f *family) string {
	m := l.model
	text := strings.Replace(f.Link(m.Link.V).observe, "response.", m.Terms.Response.V+".", -1)
	switch n := m.Terms.TrialsNumber; {
	case m.Terms.Trials.IsSet():
		text = strings.Replace(text, "trials", "raw("+m.Terms.Trials.V+")", 1)
	case n.IsSet():
		text = strings.Replace(text, "trials", source.FormatNumber(n.V), 1)
	}
	if f.Intervals {
		text = strings.Replace(text, "cuts", m.CutsText(), 1)
	}
	if m.Terms.Event.IsSet() {
		text = "censored(" + text + ", " + m.Terms.Event.V + ")"
	}
	return m.truncated(text, f)
}

// truncated is an observation given that the response is above its entry or between the
// bounds of trunc. A truncated response is in the unit of the file, also if it can be any
// number.
func (m *Model) truncated(text string, f *family) string {
	lowest, highest := m.Terms.Lowest, m.Terms.Highest
	if m.Terms.Entry.IsSet() {
		return "truncated(" + text + ", lower=raw(" + m.Terms.Entry.V + "))"
	}
	if !lowest.IsSet() && !highest.IsSet() {
		return text
	}
	if f.scaled {
		y := m.Terms.Response.V
		text = strings.Replace(text, "eta", y+".center + "+y+".by * eta", 1)
		text = strings.Replace(text, naming.Sigma, y+".by * "+naming.Sigma, 1)
	}
	if lowest.IsSet() {
		text += ", lower=" + source.FormatNumber(lowest.V)
	}
	if highest.IsSet() {
		text += ", upper=" + source.FormatNumber(highest.V)
	}
	return "truncated(" + text + ")"
}

// columnText is the expression of a coefficient's column.
func (l *lowering) columnText(label string) string {
	if source.IsName(label) {
		return label
	}
	return "column(" + (&expr.Text{Value: label}).String() + ")"
}

// dim adds a dim with labels.
func (l *lowering) dim(name string, labels []string) {
	d := &core.Dim{Name: source.Value[string]{V: name, At: l.model.Formula.At}}
	for _, label := range labels {
		d.Labels = append(d.Labels, source.Value[string]{V: label, At: l.model.Formula.At})
	}
	l.AddDim(d)
}

// elements adds the priors of single elements of a parameter.
func (l *lowering) elements(name string) {
	l.Core.Params = append(l.Core.Params, l.model.elementPriors(name)...)
}
