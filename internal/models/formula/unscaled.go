package formula

import (
	"slices"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/naming"
	"d3p/internal/models/source"
)

// raw adds, as quantities, the coefficients in the unit of the file, beside those at the
// declared scales that the priors are about:
//
//	b_raw: y.by * b / coef.by
//	Intercept_raw: y.center + y.by * (Intercept - sum(b * coef.center / coef.by, over=coef))
//	sigma_raw: y.by * sigma
//	thresholds_raw: thresholds + sum(b * coef.center / coef.by, over=coef)
//	baseline_raw: baseline - log(y.by) - sum(b * coef.center / coef.by, over=coef)
//	sd_g_raw, r_g_raw: those of the effects of groups, likewise
//
// y.center and y.by drop out unless the response is on a scale; a response that
// is modelled relative to its scale has log(y.by) + Intercept instead. A column with a
// transform has its coefficient per transformed unit. Products of scaled columns change
// unit together with their margins, b_raw: unscaled(b, over=coef), and coef.shift @ b goes
// off the intercept. A curve stays on the declared scale, and the intercept is that where it is 0.
// There are none when all scales are one, none when margins are missing, and none where
// another link than the family's own stands between predictor and scaled response.
func (l *lowering) raw(f *family, labels []string) {
	m := l.model
	y := l.Data.Column(m.Terms.Response.V)
	response := f.scaled && !y.Unscaled()
	if (response || f.relative) && f.Link(m.Link.V) != &f.links[0] {
		return
	}
	times, plus := "", ""
	if f.relative {
		plus = "log(" + y.Name.V + ".by) + "
	}
	if response {
		times, plus = y.Name.V+".by * ", y.Name.V+".center + "
	}
	shift, ok := l.rawSlopes(naming.Slopes, "coef", labels, times)
	if !ok {
		return
	}
	switch {
	case f.cuts && shift != "":
		l.quantity(naming.Thresholds, naming.Thresholds+" + "+shift)
	case f.Intervals:
		l.quantity(naming.Baseline, naming.Baseline+" - log("+y.Name.V+".by)"+minus(shift))
	case f.replacesIntercept():
	case m.Terms.Intercept && (shift != "" || plus != ""):
		l.quantity(naming.Intercept, plus+times+"("+naming.Intercept+minus(shift)+")")
	case shift != "":
		l.quantity(naming.Intercept, strings.TrimSuffix(plus, "+ ")+"-"+times+shift)
	}
	for _, a := range f.aux {
		switch p := m.predicted(a.name); {
		case p != nil:
			l.rawPredicted(p)
		case a.raw != "" && !y.Unscaled():
			l.quantity(a.name, strings.ReplaceAll(a.raw, "response.", y.Name.V+"."))
		}
	}
	for _, g := range m.Terms.Groups {
		l.rawGroup(g, times)
	}
}

// quantity defines NAME_raw.
func (l *lowering) quantity(name, text string) {
	l.Define(&l.Core.Let, naming.Raw(name), source.Value[string]{V: text, At: l.model.Formula.At})
}

// minus takes a term off, if there is one.
func minus(term string) string {
	if term == "" {
		return ""
	}
	return " - " + term
}

// rawSlopes defines the coefficients b along a dim in the unit of the file, times the
// response's unit, and returns the term to subtract from the intercept; "" for none. ok is
// false if the labels lack a margin that the change of unit needs.
func (l *lowering) rawSlopes(b, dim string, labels []string, times string) (shift string, ok bool) {
	scaled, single := l.Data.Scaled(labels)
	switch {
	case !single:
		if _, ok := l.Data.Unscaling(labels); !ok {
			return "", false
		}
		l.quantity(b, times+"unscaled("+b+", over="+dim+")")
		return dim + ".shift @ " + b, true
	case scaled:
		l.quantity(b, times+b+" / "+dim+".by")
		return "sum(" + b + " * " + dim + ".center / " + dim + ".by, over=" + dim + ")", true
	case len(labels) > 0 && times != "":
		l.quantity(b, times+b)
	}
	return "", true
}

// rawPredicted defines the coefficients in a parameter's formula, on the scale of its
// linear predictor. A parameter in the unit of the response keeps the unit of its scale.
func (l *lowering) rawPredicted(p *Predicted) {
	intercept := p.Name.V + "_Intercept"
	if shift, ok := l.rawSlopes(p.Name.V+"_b", p.Name.V+"_coef", p.labels(l.Data), ""); ok && shift != "" && p.Intercept {
		l.quantity(intercept, intercept+minus(shift))
	}
}

// rawGroup defines the effects of a group and their standard deviations in the unit of the
// file, times the response's unit. The intercept's effect is the one where the numbers of
// the file are 0. Effects that are in that unit already get no second name.
func (l *lowering) rawGroup(g GroupTerm, times string) {
	labels, name := g.labels(l.Data), g.Name()
	r, sd, dim := naming.Effects(name), naming.Spread(name), name+"_coef"
	if scaled, single := l.Data.Scaled(labels); !scaled && single {
		if times != "" {
			l.quantity(sd, times+sd)
			l.quantity(r, times+r)
		}
		return
	}
	u, ok := l.Data.Unscaling(labels)
	if !ok || l.effect != "" || slices.ContainsFunc(u.Shift, func(x float64) bool { return x != 0 }) {
		return
	}
	factor := "diag(" + sd + ")"
	if g.correlated(l.Data) {
		factor += " @ " + naming.Cholesky(name)
	}
	factor = "unscaled(" + factor + ", over=" + dim + ")"
	l.quantity(sd, times+"sqrt(diag("+factor+" @ transpose("+factor+")))")
	l.quantity(r, times+"unscaled("+r+", over="+dim+")")
}

// OnScales names the parameters and quantities that a change of unit concerns: they are on
// declared scales unless the model has them with the suffix _raw, too.
func (m *Model) OnScales(d *data.Data) (names []string) {
	y := d.Column(m.Terms.Response.V)
	response := FamilyOf(m.Family.V).scaled && !y.Unscaled()
	for _, s := range m.smooths() {
		names = append(names, s.param())
	}
	for _, p := range m.Predicted {
		if scaled, single := d.Scaled(p.labels(d)); scaled || !single || response && p.Name.V == naming.Sigma {
			names = append(names, p.Name.V+"_Intercept", p.Name.V+"_b")
		}
	}
	for _, g := range m.AllGroups() {
		name := g.Name()
		scaled, single := d.Scaled(g.labels(d))
		if scaled || !single || response && g.Of == "" {
			names = append(names, naming.Spread(name), naming.Effects(name), "g_"+name)
		}
		if scaled || !single {
			names = append(names, naming.Cholesky(name), naming.Correlations(name))
		}
	}
	return names
}
