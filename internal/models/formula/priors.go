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

// checkPriors reports priors for parameters that the formula does not have,
// and priors that are no distributions.
func (b *checker) checkPriors(m *Model, f *family) {
	known := m.priorNames(b.Data, f)
	stated := make(map[string]expr.Position)
	for _, p := range m.Priors {
		if first, twice := stated[p.Name.V]; twice {
			b.Add(p.Name.At, "", "%s has two priors; the other is on line %d", p.Name.V, first.Line)
		}
		stated[p.Name.V] = p.Name.At
		if !slices.Contains(known, p.Name.V) {
			b.Add(p.Name.At, spell.Suggest(p.Name.V, "parameters", known), "no parameter %s in this formula", p.Name.V)
		}
		if p.Expr == nil {
			continue
		}
		if _, ok := p.Expr.(*expr.Call); !ok {
			b.Add(p.Text.At, "write a distribution such as normal(0, 1)", "the prior of %s is no distribution", p.Name.V)
		}
	}
}

// priorNames lists the names for which priors may be stated.
func (m *Model) priorNames(d *data.Data, f *family) []string {
	var names, effects []string
	if f.effects {
		effects = d.Column(m.Terms.Response.V).Effects()
	}
	if m.Terms.Intercept && !f.replacesIntercept() {
		names = append(names, naming.Intercept)
		for _, e := range effects {
			names = append(names, "Intercept["+e+"]")
		}
	}
	for _, s := range m.smooths() {
		names = append(names, "s", s.param())
	}
	labels := m.Terms.labels(d)
	if len(labels) > 0 {
		names = append(names, naming.Slopes)
	}
	for _, l := range labels {
		if !f.effects {
			names = append(names, "b["+l+"]")
		}
		for _, e := range effects {
			names = append(names, "b["+l+","+e+"]")
		}
	}
	for _, g := range m.AllGroups() {
		names = append(names, m.groupPriorNames(d, &g)...)
	}
	for _, a := range f.aux {
		if p := m.predicted(a.name); p != nil {
			names = append(names, p.priorNames(d)...)
		} else {
			names = append(names, a.name)
		}
	}
	if f.Intervals {
		for _, i := range m.intervals() {
			names = append(names, "baseline["+i+"]")
		}
	}
	return names
}

// groupPriorNames lists the names of one group's priors. sd, cor and g are shared by all
// groups.
func (m *Model) groupPriorNames(d *data.Data, g *GroupTerm) []string {
	group := g.Name()
	names := []string{"sd", naming.Spread(group)}
	effects := []string{""}
	if f := FamilyOf(m.Family.V); f != nil && f.effects {
		effects = d.Column(m.Terms.Response.V).Effects()
	}
	for _, l := range g.labels(d) {
		for _, e := range effects {
			if e != "" {
				e = "," + e
			}
			names = append(names, naming.Spread(group)+"["+l+e+"]")
		}
	}
	if g.correlated(d) {
		names = append(names, "cor", naming.Correlations(group))
	}
	for _, f := range m.GroupFormulas {
		if g.Of != "" || f.Group.V != group {
			continue
		}
		names = append(names, "g", "g_"+group)
		for _, effect := range g.labels(d) {
			for _, l := range f.labels(d) {
				names = append(names, "g_"+group+"["+effect+","+l+"]")
			}
		}
	}
	return names
}

// labels lists the effects that vary by group.
func (g *GroupTerm) labels(d *data.Data) []string {
	var labels []string
	if g.Intercept {
		labels = append(labels, naming.Intercept)
	}
	return append(labels, labelsOf(d, g.Intercept, g.Terms)...)
}

// prior returns the stated prior of the first of these names, or def.
func (m *Model) prior(def string, names ...string) source.Value[string] {
	for _, name := range names {
		for _, p := range m.Priors {
			if p.Name.V == name {
				return p.Text
			}
		}
	}
	return source.Value[string]{V: def, At: m.Formula.At}
}

// elementPriors returns the priors stated for single elements, name[label].
func (m *Model) elementPriors(name string) []*core.Definition {
	var list []*core.Definition
	for _, p := range m.Priors {
		if strings.HasPrefix(p.Name.V, name+"[") {
			list = append(list, p)
		}
	}
	return list
}

// AllPriors lists the prior of every parameter of the formula, stated or not,
// under the names of the block `priors:`.
func (m *Model) AllPriors(lowered *core.Core) []*core.Definition {
	var list []*core.Definition
	for _, p := range lowered.Params {
		if isEffect(p.Name.V, m) {
			continue // its prior is part of the model, not a choice
		}
		prior := *p
		if group, ok := naming.CholeskyOf(p.Name.V); ok {
			prior.Name.V = naming.Correlations(group)
		}
		if distribution, _, errs := expr.SplitDims(p.Expr); len(errs) == 0 {
			prior.Text.V = distribution.String()
		}
		list = append(list, &prior)
	}
	return list
}

// isEffect reports whether a lowered parameter holds the effects of a group.
func isEffect(name string, m *Model) bool {
	return slices.ContainsFunc(m.AllGroups(), func(g GroupTerm) bool {
		return name == naming.Standardised(g.Name()) || name == naming.Effects(g.Name())
	})
}
