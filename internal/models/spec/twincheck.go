package spec

import (
	"strings"

	"d3p/internal/models/expr"
)

// checkTwin reports what is wrong between a twin and the data.
func (b *blocks) checkTwin(t *Twin) {
	d := &b.spec.Data
	t.complete(d)
	used := make(map[string]bool)
	for _, f := range t.Features {
		used[f.Column.V] = true
		if c := d.Column(f.Column.V); c == nil {
			b.undeclared(f.Column)
		} else if f.Family.IsSet() && c.Type.IsSet() {
			b.checkFeature(f, c)
		}
	}
	if len(t.Features) == 0 {
		b.add(t.At, "add `features:` with a family for each column", "the twin has no columns")
	}
	b.unused(used)
	b.checkTwinPriors(t)
}

// checkFeature reports a family that cannot describe its column.
func (b *blocks) checkFeature(f *Feature, c *Column) {
	family := twinFamilyOf(f.Family.V)
	if !contains(family.types, c.Type.V) {
		var others []string
		for _, other := range twinFamilies() {
			if contains(other.types, c.Type.V) {
				others = append(others, other.name)
			}
		}
		b.add(f.Family.At, c.Type.V+" columns: "+strings.Join(others, ", "), "family %s describes columns of type %s, but %s is %s",
			family.name, strings.Join(family.types, " or "), c.Name.V, c.Type.V)
		return
	}
	if family.fits != nil && c.Lower.IsSet() && c.Upper.IsSet() && !family.fits(c.Lower.V, c.Upper.V) {
		b.add(f.Family.At, "declare other bounds, or use normal", "family %s needs %s, but %s is in [%s, %s]",
			family.name, family.needs, c.Name.V, formatNumber(c.Lower.V), formatNumber(c.Upper.V))
	}
	if c.Missing.Rule == MissingImpute {
		b.add(c.Missing.At, "use `model` or `reject`", "column %s is part of the twin and must not be imputed", c.Name.V)
	}
}

// checkTwinPriors reports priors of what the twin does not have.
func (b *blocks) checkTwinPriors(t *Twin) {
	known := t.priorNames(&b.spec.Data)
	stated := make(map[string]Position)
	for _, p := range t.Priors {
		if first, twice := stated[p.Name.V]; twice {
			b.add(p.Name.At, "", "%s has two priors; the other is on line %d", p.Name.V, first.Line)
		}
		stated[p.Name.V] = p.Name.At
		if !contains(known, p.Name.V) {
			b.add(p.Name.At, suggest(p.Name.V, "priors", known), "the twin has no %s", p.Name.V)
		}
		if _, ok := p.Expr.(*expr.Call); p.Expr != nil && !ok {
			b.add(p.Text.At, "write a distribution such as normal(0, 1)", "the prior of %s is no distribution", p.Name.V)
		}
	}
}

// priorNames lists what priors may be stated for: an argument of a family, for
// all its columns or for one of them.
func (t *Twin) priorNames(d *Data) []string {
	var names []string
	add := func(name string) {
		if !contains(names, name) {
			names = append(names, name)
		}
	}
	for _, f := range t.Features {
		family, c := twinFamilyOf(f.Family.V), d.Column(f.Column.V)
		if family == nil || c == nil {
			continue
		}
		for _, a := range family.args {
			add(family.name + "." + a.name)
			add(c.Name.V + "." + a.name)
		}
		if d.MissingOf(c).Rule == MissingModel {
			add(naArgument.name)
			add(c.Name.V + "." + naArgument.name)
		}
	}
	return names
}

// lowerable reports whether mistakes stand in the way of lowering the twin.
func (t *Twin) lowerable(d *Data) bool {
	for _, f := range t.Features {
		c, family := d.Column(f.Column.V), twinFamilyOf(f.Family.V)
		if c == nil || family == nil || !contains(family.types, c.Type.V) ||
			family.fits != nil && !family.fits(c.Lower.V, c.Upper.V) {
			return false
		}
	}
	for _, p := range t.Priors {
		if p.Expr == nil {
			return false
		}
	}
	return len(t.Features) > 0 && t.Components.IsSet()
}
