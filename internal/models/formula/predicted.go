package formula

import (
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// Predicted is a parameter of the family that depends on the record, by its own formula:
// `sigma: 1 + arm`. Its logarithm is the linear predictor, the log odds of a probability:
//
//	sigma: exp(sigma_Intercept + columns(sigma_coef) @ sigma_b)
//	zi: sigmoid(zi_Intercept + columns(zi_coef) @ zi_b)
//
// Its curves and groups add s_sigma_x and r_sigma_g.
type Predicted struct {
	Name source.Value[string]
	Text source.Value[string]
	*Formula
}

// NewPredicted parses the formula of the parameter of that name.
func NewPredicted(name, text source.Value[string], p *source.Problems) *Predicted {
	f := parsePredicted(text, p)
	for i := range f.Groups {
		f.Groups[i].Of = name.V
	}
	for _, s := range f.Smooths {
		s.Of = name.V
	}
	return &Predicted{name, text, f}
}

// String prints the formula.
func (p *Predicted) String() string { return p.rightSide() }

// Default prior of the coefficients of a predicted parameter, on the log or log
// odds scale.
const priorPredicted = "normal(0, 1)"

// predicted returns the formula of a parameter of the family, or nil.
func (m *Model) predicted(name string) *Predicted {
	for _, p := range m.Predicted {
		if p.Name.V == name {
			return p
		}
	}
	return nil
}

// AllGroups are the group terms of the linear predictor and of predicted parameters.
func (m *Model) AllGroups() []GroupTerm {
	groups := m.Terms.Groups
	for _, p := range m.Predicted {
		groups = append(groups[:len(groups):len(groups)], p.Groups...)
	}
	return groups
}

// smooths are the curves of the linear predictor and of predicted parameters.
func (m *Model) smooths() []*Smooth {
	smooths := m.Terms.Smooths
	for _, p := range m.Predicted {
		smooths = append(smooths[:len(smooths):len(smooths)], p.Smooths...)
	}
	return smooths
}

// checkPredicted reports formulas of parameters that the family does not have,
// and columns that cannot predict them. It returns false when a column is not
// declared.
func (b *checker) checkPredicted(m *Model, f *family) bool {
	known := true
	for _, p := range m.Predicted {
		has := false
		var own []string
		if f != nil {
			for _, a := range f.aux {
				own = append(own, a.name)
				has = has || a.name == p.Name.V && !f.replacesIntercept()
			}
		}
		if f != nil && !has {
			b.Add(p.Name.At, spell.Suggest(p.Name.V, "it has", own), "family %s has no %s to predict", f.Name, p.Name.V)
		}
		b.derive(p.Functions)
		for _, c := range p.columnsOf() {
			if b.Data.Column(c.V) == nil {
				known = false
				if !p.isFunction(c.V) {
					b.Undeclared(c)
				}
			}
		}
		for _, t := range p.Terms {
			b.checkTerm(m, t)
		}
		b.checkSmooths(p.Formula)
		b.checkGroups(m, p.Formula)
		for _, d := range m.Priors {
			if d.Name.V == p.Name.V {
				b.Add(d.Name.At, "state priors of "+p.Name.V+"_Intercept and "+p.Name.V+"_b", "%s has a formula and therefore no prior", p.Name.V)
			}
		}
	}
	return known
}

// priorNames lists the names for which priors may be stated.
func (p *Predicted) priorNames(d *data.Data) []string {
	var names []string
	if p.Intercept {
		names = append(names, p.Name.V+"_Intercept")
	}
	labels := p.labels(d)
	if len(labels) > 0 {
		names = append(names, p.Name.V+"_b")
	}
	for _, l := range labels {
		names = append(names, p.Name.V+"_b["+l+"]")
	}
	return names
}

// predict lowers the formula of a parameter of the family, if it has one.
func (l *lowering) predict(a auxiliary) bool {
	name := a.name
	p := l.model.predicted(name)
	if p == nil {
		return false
	}
	var sum []string
	if p.Intercept {
		intercept := name + "_Intercept"
		l.Param(intercept, l.model.prior(priorPredicted, intercept), "")
		sum = append(sum, intercept)
	}
	if labels := p.labels(l.Data); len(labels) > 0 {
		b, coef := name+"_b", name+"_coef"
		l.dim(coef, labels)
		l.Param(b, l.model.prior(priorPredicted, b), " ["+coef+"]")
		l.elements(b)
		sum = append(sum, "columns("+coef+") @ "+b)
		linear := &core.Predictor{Coefficients: b, Dim: coef}
		if p.Intercept {
			linear.Level = name + "_Intercept"
		}
		l.Core.Predictors = append(l.Core.Predictors, linear)
	}
	sum = append(sum, l.smooths(p.Formula)...)
	for _, g := range p.Groups {
		sum = append(sum, l.group(g)...)
	}
	if len(sum) == 0 {
		sum = []string{(&expr.Number{}).String()}
	}
	inverse := "exp"
	switch {
	case a.probability:
		inverse = "sigmoid"
	case a.anywhere:
		inverse = ""
	}
	l.Define(&l.Core.RowsLet, name, source.Value[string]{V: inverse + "(" + strings.Join(sum, " + ") + ")", At: p.Text.At})
	return true
}
