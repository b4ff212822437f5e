package twin

import (
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// The names in a lowered twin besides those of its columns.
const (
	twinComponent = "component"
	twinFeature   = "feature"
	twinWeights   = "weights"
	cutSuffix     = "_cut"
)

// Lower returns a twin in the core language. Columns x, y become
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
func Lower(t *Twin, d *data.Data) (*core.Core, expr.Errors) {
	l := &lowering{core.NewBuilder(t.At, d)}
	l.Core.Constraints = t.Constraints
	components := t.Components
	if t.ByMarginals() {
		components = source.Value[int]{V: 2, At: t.At} // a simplex of one has no parameters
	}
	l.AddDim(&core.Dim{Name: source.Value[string]{V: twinComponent, At: t.At}, Size: components})
	features := &core.Dim{Name: source.Value[string]{V: twinFeature, At: t.At}}
	for _, f := range t.Features {
		features.Labels = append(features.Labels, f.Column)
	}
	l.AddDim(features)
	l.Param(twinWeights, source.Value[string]{V: t.Weights.Or(Weights.Prior), At: orAt(t.Weights.At, t.At)}, " ["+twinComponent+"]")
	parts := []string{twinFeature}
	for _, f := range t.Features {
		parts = append(parts, f.Column.V+"="+l.feature(t, f))
	}
	text := "mixture(" + twinWeights + ", joint(" + strings.Join(parts, ", ") + "), over=" + twinComponent + ")"
	l.Define(&l.Core.Observe, twinFeature, source.Value[string]{V: text, At: t.At})
	l.CheckClashes()
	return l.Core, l.Sorted()
}

func orAt(at, otherwise expr.Position) expr.Position {
	if at.Line > 0 {
		return at
	}
	return otherwise
}

// lowering turns one twin into core blocks.
type lowering struct{ *core.Builder }

// feature adds the parameters of one column and returns its distribution.
func (l *lowering) feature(t *Twin, f *Feature) string {
	family, c := FamilyOf(f.Family.V), l.Data.Column(f.Column.V)
	text := family.observe
	for _, a := range family.Args {
		name := c.Name.V + "_" + a.Name
		dims := " [" + twinComponent + "]"
		switch a.dim {
		case levelDim:
			dims = " [" + twinComponent + ", " + c.Name.V + "]"
			l.AddDim(&core.Dim{Name: f.Column, Of: f.Column})
		case cutDim:
			dims = " [" + twinComponent + ", " + c.Name.V + cutSuffix + "]"
			l.AddDim(&core.Dim{Name: source.Value[string]{V: c.Name.V + cutSuffix, At: f.Column.At}, Size: source.Value[int]{V: len(c.Levels) - 1, At: f.Column.At}})
		}
		l.Param(name, t.Prior(f, family.Name, a, c), dims)
		text = strings.ReplaceAll(text, "{"+a.Name+"}", name)
	}
	if l.Data.MissingOf(c).Rule != data.MissingModel {
		return text
	}
	name := c.Name.V + "_" + Missing.Name
	l.Param(name, t.Prior(f, "", Missing, c), " ["+twinComponent+"]")
	return "missing(" + name + ", " + text + ")"
}

// Prior is the prior of one column's argument: stated for the column, for the
// family, or the default.
func (t *Twin) Prior(f *Feature, family string, a Argument, c *data.Column) source.Value[string] {
	names := []string{c.Name.V + "." + a.Name, a.Name}
	if family != "" {
		names[1] = family + "." + a.Name
	}
	for _, name := range names {
		for _, p := range t.Priors {
			if p.Name.V == name {
				return p.Text
			}
		}
	}
	return source.Value[string]{V: a.defaultPrior(c), At: f.Family.At}
}
