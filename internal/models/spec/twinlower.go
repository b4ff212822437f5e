package spec

import "strings"

// The names that a lowered twin has beside those of its columns.
const (
	twinComponent = "component"
	twinFeature   = "feature"
	twinWeights   = "weights"
	cutSuffix     = "_cut"
)

// lowerTwin returns a twin in the core language. Columns x, y become
//
//	dims:   component: K; feature: [x, y]; y: levels(y)
//	params: weights [component], x_loc [component], x_scale [component],
//	        y_probs [component, y], x_na [component]
//	rows:   feature: mixture(weights, joint(feature,
//	        x=missing(x_na, normal(x_loc, x_scale)), y=categorical(y_probs)),
//	        over=component)
//
// with missing() where the column's missing values are part of the model.
// Jälkö et al. 2021, Patterns 2(7), whose automatic mixture this is.
func (s *Spec) lowerTwin() (*Core, Errors) {
	t := s.Twin
	l := &lowering{problems: &problems{}, data: &s.Data, core: &Core{At: t.At, Constraints: t.Constraints}}
	l.twinDim(&Dim{Name: Value[string]{twinComponent, t.At}, Size: t.Components})
	features := &Dim{Name: Value[string]{twinFeature, t.At}}
	for _, f := range t.Features {
		features.Labels = append(features.Labels, f.Column)
	}
	l.twinDim(features)
	l.param(twinWeights, Value[string]{t.Weights.Or(weightsArgument.prior), orAt(t.Weights.At, t.At)}, " ["+twinComponent+"]")
	parts := []string{twinFeature}
	for _, f := range t.Features {
		parts = append(parts, f.Column.V+"="+l.feature(t, f))
	}
	text := "mixture(" + twinWeights + ", joint(" + strings.Join(parts, ", ") + "), over=" + twinComponent + ")"
	l.define(&l.core.Observe, twinFeature, Value[string]{text, t.At})
	l.checkClashes()
	return l.core, l.sorted()
}

func orAt(at, otherwise Position) Position {
	if at.Line > 0 {
		return at
	}
	return otherwise
}

func (l *lowering) twinDim(d *Dim) { l.core.Dims = append(l.core.Dims, d) }

// feature adds the parameters of one column and returns its distribution.
func (l *lowering) feature(t *Twin, f *Feature) string {
	family, c := twinFamilyOf(f.Family.V), l.data.Column(f.Column.V)
	text := family.observe
	for _, a := range family.args {
		name := c.Name.V + "_" + a.name
		dims := " [" + twinComponent + "]"
		switch a.dim {
		case levelDim:
			dims = " [" + twinComponent + ", " + c.Name.V + "]"
			l.twinDim(&Dim{Name: f.Column, Of: f.Column})
		case cutDim:
			dims = " [" + twinComponent + ", " + c.Name.V + cutSuffix + "]"
			l.twinDim(&Dim{Name: Value[string]{c.Name.V + cutSuffix, f.Column.At}, Size: Value[int]{len(c.Levels) - 1, f.Column.At}})
		}
		l.param(name, t.prior(f, family.name, a, c), dims)
		text = strings.ReplaceAll(text, "{"+a.name+"}", name)
	}
	if l.data.MissingOf(c).Rule != MissingModel {
		return text
	}
	name := c.Name.V + "_" + naArgument.name
	l.param(name, t.prior(f, "", naArgument, c), " ["+twinComponent+"]")
	return "missing(" + name + ", " + text + ")"
}

// prior is the prior of one column's argument: stated for the column, for the
// family, or the default.
func (t *Twin) prior(f *Feature, family string, a twinArgument, c *Column) Value[string] {
	names := []string{c.Name.V + "." + a.name, a.name}
	if family != "" {
		names[1] = family + "." + a.name
	}
	for _, name := range names {
		for _, p := range t.Priors {
			if p.Name.V == name {
				return p.Text
			}
		}
	}
	return Value[string]{a.defaultPrior(c), f.Family.At}
}
