package twin

import (
	"math"
	"slices"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

// checker checks a twin.
type checker struct{ *data.Checker }

// Check reports contradictions between a twin and the data.
func Check(c *data.Checker, t *Twin) {
	b := &checker{c}
	d := b.Data
	t.complete(d)
	used := make(map[string]bool)
	for _, f := range t.Features {
		used[f.Column.V] = true
		if c := d.Column(f.Column.V); c == nil || c.Derive != nil {
			b.Undeclared(f.Column)
		} else if f.Family.IsSet() && c.Type.IsSet() {
			b.checkFeature(f, c)
		}
	}
	typed := func(c *data.Column) bool { return c.Type.IsSet() }
	if len(t.Features) == 0 && (len(d.Columns) == 0 || slices.ContainsFunc(d.Columns, typed)) { // otherwise the columns are still to be filled in
		b.Add(t.At, "add `features:` with a family for each column", "the twin has no columns")
	}
	if t.squares(d) > mostSquares {
		b.Add(t.At, "merge rare levels, or take columns out", "the twin's columns have too many levels together")
	}
	b.Used(used)
	b.checkTwinPriors(t)
	b.checkWorkload(t)
}

// checkWorkload reports questions that are no sets of declared columns.
func (b *checker) checkWorkload(t *Twin) {
	for _, q := range t.Workload {
		seen := make(map[string]bool)
		for _, c := range q.Columns {
			if column := b.Data.Column(c.V); column == nil {
				b.Undeclared(c)
			} else if column.Derive != nil {
				b.Add(c.At, "name the columns that it follows from", "column %s is derived, and the workload is of columns of the file", c.V)
			}
			if seen[c.V] {
				b.Add(c.At, "name each column once", "column %s is twice in one element of the workload", c.V)
			}
			seen[c.V] = true
		}
		if q.All == 0 && len(q.Columns) < 2 {
			b.Add(q.At, "write [age, income], or `all 2-way`", "an element of the workload has fewer than two columns")
		}
	}
}

// Bounds of the levels of a column, and of the sum of their squares over columns and components:
// a simplex takes memory of the square, about 40 bytes each.
const (
	mostLevels  = 1000
	mostSquares = 40 * mostLevels * mostLevels
)

// squares is the sum of the squares of the columns' levels over columns and components.
func (t *Twin) squares(d *data.Data) (sum int) {
	for _, f := range t.Features {
		if c := d.Column(f.Column.V); c != nil {
			sum += len(c.Levels) * len(c.Levels)
		}
	}
	return sum * max(2, t.Components.V) // two by marginals, see Lower
}

// checkFeature reports a family that cannot describe its column.
func (b *checker) checkFeature(f *Feature, c *data.Column) {
	family := FamilyOf(f.Family.V)
	if !slices.Contains(family.types, c.Type.V) {
		var others []string
		for _, other := range families() {
			if slices.Contains(other.types, c.Type.V) {
				others = append(others, other.Name)
			}
		}
		b.Add(f.Family.At, c.Type.V+" columns: "+strings.Join(others, ", "), "family %s describes columns of type %s, but %s is %s",
			family.Name, strings.Join(family.types, " or "), c.Name.V, c.Type.V)
		return
	}
	if family.fits != nil && c.Lower.IsSet() && c.Upper.IsSet() && !family.fits(c.Lower.V, c.Upper.V) {
		b.Add(f.Family.At, "declare other bounds, or use normal", "family %s needs %s, but %s is in [%s, %s]",
			family.Name, family.needs, c.Name.V, source.FormatNumber(c.Lower.V), source.FormatNumber(c.Upper.V))
	}
	if n := len(c.Levels); n > mostLevels {
		b.Add(c.Name.At, "merge rare levels, or take the column out", "column %s has %d levels, and a twin's column at most %d", c.Name.V, n, mostLevels)
	}
	if c.Missing.Rule == data.MissingImpute {
		b.Add(c.Missing.At, "use `model` or `reject`", "column %s is part of the twin and must not be imputed", c.Name.V)
	}
}

// checkTwinPriors reports priors of arguments that the twin lacks.
func (b *checker) checkTwinPriors(t *Twin) {
	names, arguments := t.arguments(b.Data)
	for _, p := range t.Priors {
		i := slices.Index(names, p.Name.V)
		if i < 0 {
			b.Add(p.Name.At, spell.Suggest(p.Name.V, "priors", names), "the twin has no %s", p.Name.V)
		} else if why := arguments[i].refuses(p.Expr); why != "" {
			b.Add(p.Text.At, "", "the prior of %s %s", p.Name.V, why)
		}
	}
	if t.Weights.IsSet() {
		if why := Weights.refuses(source.ParseExpr(t.Weights, b.Problems)); why != "" {
			b.Add(t.Weights.At, "write dirichlet(0.5)", "the prior of the weights %s", why)
		}
	}
}

// refuses is the reason why an expression is no prior of an argument, or "".
func (a Argument) refuses(prior expr.Expr) string {
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
	want := a.support.Whole()
	if s := d.Support(args); s.Kind != support.Interval && !want.Covers(s) {
		return "must be " + want.String() + ", but " + d.Name + " is " + s.Kind.String()
	}
	return ""
}

// arguments lists the names for which priors may be stated: an argument of a family, for
// all its columns or for one of them.
func (t *Twin) arguments(d *data.Data) (names []string, arguments []Argument) {
	add := func(name string, a Argument) {
		if !slices.Contains(names, name) {
			names, arguments = append(names, name), append(arguments, a)
		}
	}
	for _, f := range t.Features {
		family, c := FamilyOf(f.Family.V), d.Column(f.Column.V)
		if family == nil || c == nil {
			continue
		}
		for _, a := range family.Args {
			add(family.Name+"."+a.Name, a)
			add(c.Name.V+"."+a.Name, a)
		}
		if d.MissingOf(c).Rule == data.MissingModel {
			add(Missing.Name, Missing)
			add(c.Name.V+"."+Missing.Name, Missing)
		}
	}
	return names, arguments
}

// Lowerable reports whether the twin can be lowered in spite of its mistakes.
func (t *Twin) Lowerable(d *data.Data) bool {
	for _, f := range t.Features {
		c, family := d.Column(f.Column.V), FamilyOf(f.Family.V)
		if c == nil || family == nil || !slices.Contains(family.types, c.Type.V) ||
			len(c.Levels) > mostLevels || family.fits != nil && !family.fits(c.Lower.V, c.Upper.V) {
			return false
		}
	}
	names, arguments := t.arguments(d)
	for _, p := range t.Priors {
		if i := slices.Index(names, p.Name.V); p.Expr == nil || i >= 0 && arguments[i].refuses(p.Expr) != "" {
			return false
		}
	}
	return len(t.Features) > 0 && t.squares(d) <= mostSquares && (t.Components.IsSet() || t.ByMarginals())
}
