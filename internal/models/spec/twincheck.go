package spec

import (
	"math"
	"slices"
	"strings"

	"d3p/internal/models/dist"
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
	names, arguments := t.arguments(&b.spec.Data)
	for _, p := range t.Priors {
		i := slices.Index(names, p.Name.V)
		if i < 0 {
			b.add(p.Name.At, suggest(p.Name.V, "priors", names), "the twin has no %s", p.Name.V)
		} else if why := arguments[i].refuses(p.Expr); why != "" {
			b.add(p.Text.At, "", "the prior of %s %s", p.Name.V, why)
		}
	}
	if t.Weights.IsSet() {
		if why := weightsArgument.refuses(parseExpr(t.Weights, b.problems)); why != "" {
			b.add(t.Weights.At, "write dirichlet(0.5)", "the prior of the weights %s", why)
		}
	}
}

// refuses says why an expression is no prior of an argument, or "".
func (a twinArgument) refuses(prior expr.Expr) string {
	if prior == nil {
		return "" // reported
	}
	call, ok := prior.(*expr.Call)
	if !ok {
		return "is no distribution such as normal(0, 1)"
	}
	d, ok := dist.Lookup(call.Func)
	if !ok {
		return "" // a combination, or reported when it is lowered
	}
	args := make([]float64, len(d.Args))
	for i := range args {
		args[i] = math.NaN()
	}
	want := dist.Support{Kind: a.support}
	if s := d.Support(args); s.Kind != dist.Interval && !want.Covers(s) {
		return "must be " + want.String() + ", but " + d.Name + " is " + s.Kind.String()
	}
	return ""
}

// arguments lists what priors may be stated for, by name: an argument of a
// family, for all its columns or for one of them.
func (t *Twin) arguments(d *Data) (names []string, arguments []twinArgument) {
	add := func(name string, a twinArgument) {
		if !contains(names, name) {
			names, arguments = append(names, name), append(arguments, a)
		}
	}
	for _, f := range t.Features {
		family, c := twinFamilyOf(f.Family.V), d.Column(f.Column.V)
		if family == nil || c == nil {
			continue
		}
		for _, a := range family.args {
			add(family.name+"."+a.name, a)
			add(c.Name.V+"."+a.name, a)
		}
		if d.MissingOf(c).Rule == MissingModel {
			add(naArgument.name, naArgument)
			add(c.Name.V+"."+naArgument.name, naArgument)
		}
	}
	return names, arguments
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
	names, arguments := t.arguments(d)
	for _, p := range t.Priors {
		if i := slices.Index(names, p.Name.V); p.Expr == nil || i >= 0 && arguments[i].refuses(p.Expr) != "" {
			return false
		}
	}
	return len(t.Features) > 0 && t.Components.IsSet()
}
