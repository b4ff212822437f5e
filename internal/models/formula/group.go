package formula

import (
	"slices"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/naming"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// group lowers (1 + x | g). With D effects per level, written with | and D > 1, the effects
// of a level are correlated, by their prior alone, so that no gradient of a record is about L_g:
//
//	L_g: lkj_cholesky(2) [g_coef, g_coef]
//	cor_g: L_g @ transpose(L_g)
//	z_g: mvn(0, L_g) [g, g_coef]
//	r_g: z_g * sd_g
//
// and with a formula for the group, their means come from its public table:
//
//	r_g: columns(g_pred) @ transpose(g_g) + z_g * sd_g
//
// If every level of the response has a linear predictor, each has separate effects, without
// correlation.
//
// Centred, r_g is the parameter itself, normal or mvn around that mean.
func (l *lowering) group(g GroupTerm) (summands []string) {
	m, name, level := l.model, g.Name(), g.Group.V
	labels := g.labels(l.Data)
	coef, sd, cholesky, z, r := name+"_coef", naming.Spread(name), naming.Cholesky(name), naming.Standardised(name), naming.Effects(name)
	if !slices.ContainsFunc(l.Core.Dims, func(d *core.Dim) bool { return d.Name.V == level }) {
		l.AddDim(&core.Dim{Name: source.Value[string]{V: level, At: g.At}, Of: g.Group})
	}
	l.dim(coef, labels)
	mean := l.groupMean(g)
	l.Param(sd, m.prior(priorSD, sd, "sd"), " ["+coef+l.effect+"]")
	l.elements(sd)
	factor, law := "", "normal(0, 1)"
	if g.correlated(l.Data) && l.effect == "" {
		prior := m.prior(priorCor, naming.Correlations(name), "cor")
		prior.V = strings.Replace(prior.V, "lkj(", "lkj_cholesky(", 1)
		l.Param(cholesky, prior, " ["+coef+", "+coef+"]")
		factor, law = "diag("+sd+") @ "+cholesky, "mvn(0, "+cholesky+")"
		l.correlations(name, labels, g)
	}
	dims := " [" + level + ", " + coef + l.effect + "]"
	switch {
	case m.Parametrisation.V == "centred" && factor == "":
		l.Param(r, source.Value[string]{V: "normal(" + orZero(mean) + ", " + sd + ")", At: g.At}, dims)
	case m.Parametrisation.V == "centred":
		l.Param(r, source.Value[string]{V: "mvn(" + orZero(mean) + ", " + factor + ")", At: g.At}, dims)
	default:
		l.Param(z, source.Value[string]{V: law, At: g.At}, dims)
		effects := z + " * " + sd
		if mean != "" {
			effects = mean + " + " + effects
		}
		l.Define(&l.Core.Let, r, source.Value[string]{V: effects, At: g.At})
	}
	for _, label := range labels {
		summand := r + "[" + level + ", " + (&expr.Text{Value: label}).String() + "]"
		if label != naming.Intercept {
			summand += " * " + l.columnText(label)
		}
		summands = append(summands, summand)
	}
	return summands
}

// Name is the part of the parameters' names that is of the group: g, or sigma_g in the
// formula of sigma.
func (g *GroupTerm) Name() string { return within(g.Of, g.Group.V) }

// correlations adds the correlations of a group's effects as a quantity: one number of
// two effects, the matrix of more.
func (l *lowering) correlations(name string, labels []string, g GroupTerm) {
	factor := naming.Cholesky(name)
	text := factor + " @ transpose(" + factor + ")"
	if len(labels) == 2 {
		quoted := func(label string) string { return (&expr.Text{Value: label}).String() }
		text = factor + "[" + quoted(labels[1]) + ", " + quoted(labels[0]) + "]"
	}
	l.Define(&l.Core.Let, naming.Correlations(name), source.Value[string]{V: text, At: g.At})
}

// groupMean lowers the group's formula to the mean of its effects, "" for none.
func (l *lowering) groupMean(g GroupTerm) string {
	name := g.Group.V
	for _, f := range l.model.GroupFormulas {
		labels := f.labels(l.Data)
		if g.Of != "" || f.Group.V != name || len(labels) == 0 {
			continue
		}
		l.dim(name+"_pred", labels)
		l.Param("g_"+name, l.model.prior(priorB, "g_"+name, "g"), " ["+name+"_coef, "+name+"_pred]")
		l.elements("g_" + name)
		return "columns(" + name + "_pred) @ transpose(g_" + name + ")"
	}
	return ""
}

func orZero(mean string) string {
	if mean == "" {
		return "0"
	}
	return mean
}

// correlated reports whether the effects of a level have correlations.
func (g *GroupTerm) correlated(d *data.Data) bool {
	return !g.Uncorrelated && len(g.labels(d)) > 1
}

// labels lists the predictors in the group's formula.
func (f *GroupFormula) labels(d *data.Data) []string {
	t := d.Table(f.Group.V)
	if t == nil {
		return nil
	}
	public := &data.Data{Columns: t.Columns}
	for _, term := range f.Terms {
		for _, c := range term.Columns {
			if public.Column(c) == nil {
				return nil
			}
		}
	}
	return labelsOf(public, true, f.Terms)
}

// checkGroupFormulas reports formulas of groups that the model does not have,
// and of columns that their tables do not have.
func (b *checker) checkGroupFormulas(m *Model) {
	d := b.Data
	for _, f := range m.GroupFormulas {
		found := false
		var groups []string
		for _, g := range m.Terms.Groups {
			found = found || g.Group.V == f.Group.V
			groups = append(groups, g.Group.V)
		}
		t := d.Table(f.Group.V)
		switch {
		case !found:
			b.Add(f.Group.At, spell.Suggest(f.Group.V, "groups", groups), "the formula has no group %s", f.Group.V)
			continue
		case t == nil:
			b.Add(f.Group.At, "declare one under `tables:` with key "+f.Group.V, "group %s has no public table", f.Group.V)
			continue
		}
		for _, term := range f.Terms {
			for _, c := range term.Columns {
				if t.Column(c) == nil {
					b.Add(term.At, spell.Suggest(c, "columns", (&data.Data{Columns: t.Columns}).ColumnNames()), "table %s has no column %s", t.Name.V, c)
				}
			}
			if len(term.Columns) > 1 {
				b.Add(term.At, "", "interactions of a group's columns are not available")
			}
		}
	}
}
