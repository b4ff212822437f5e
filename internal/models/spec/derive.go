package spec

import (
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// derived is `derive:`, an expression per column, or a mapping with its bounds and scale. A
// column that is a term of the formula is not printed here if the formula is printed.
func derived(d *data.Data, formula bool) field {
	shown := slices.DeleteFunc(slices.Clone(d.Derived), func(c *data.Column) bool { return formula && c.Derive.InFormula })
	f := named("derive", &d.Derived, readDerived, nil)
	f.stated = func() bool { return len(shown) > 0 }
	f.print = func(p *printer) {
		p.block("derive", func() {
			for _, c := range shown {
				p.line(c.Name.V, flow(derivedFields(d, c)))
			}
		})
	}
	return f
}

// readDerived reads one line of `derive:`.
func readDerived(r *reader, e entry) (*data.Column, bool) {
	c := &data.Column{Name: e.name(), Derive: &data.Derivation{}}
	if r.shape != nil {
		r.describes("string")
	} else if !e.isMapping() {
		c.Derive.Text = r.text(e)
		return c, true
	}
	r.object(e, "column "+e.key, derivedFields(&r.spec.Data, c))
	return c, true
}

// derivedFields are the keys of a derived column.
func derivedFields(d *data.Data, c *data.Column) []field {
	numeric, bounds := c.Numeric(), c.Numeric() && d.ShowsBounds(c)
	return []field{
		text("is", &c.Derive.Text).needed("add `is:` with an expression of columns, such as weight / (height / 100)^2", "derived column "+c.Name.V+" has no expression").means("an expression of columns, in the unit of the file"),
		number("lower", &c.Lower).as(func() string { return source.FormatNumber(c.Lower.V) }).means("bounds to which the number is clamped; default: those that follow from its columns").when(bounds),
		number("upper", &c.Upper).as(func() string { return source.FormatNumber(c.Upper.V) }).means("the upper one").when(bounds),
		choice("transform", &c.Transform, data.TransformNames()...).means("of the number after clamping").when(numeric),
		derivedScale(c).means("the unit of priors").when(bounds || numeric && c.By.IsSet()),
		merged(&c.Derive.Merged).means("levels that join levels of a category: {north: [leeds, york], south: [dover]}"),
		text("reference", &c.Reference).means("the level without a coefficient; default: the first"),
		text("source", &c.Source).means("where the constants come from"),
	}
}

// merged are the levels of a category that joins levels of another:
// {north: [leeds, york], south: [dover]}.
func merged(at *[]data.Merge) field {
	return named("levels", at, func(r *reader, e entry) (data.Merge, bool) {
		return data.Merge{Level: e.name(), From: r.texts(e)}, true
	}, nil).shown(func() string { return mergesText(*at) })
}

// mergesText prints levels with what they join.
func mergesText(list []data.Merge) string {
	var levels []string
	for _, m := range list {
		levels = append(levels, flowText(m.Level.V)+": "+flowList(m.From, func(v source.Value[string]) string { return v.V }))
	}
	return flowMap(levels)
}

// checkDerived parses the expressions of derived columns and completes their
// declarations; it leaves out columns with mistakes.
func (r *reader) checkDerived(d *data.Data) {
	declared := d.Derived
	d.Derived = nil
	for _, c := range declared {
		if other := d.Column(c.Name.V); other != nil {
			r.Add(c.Name.At, "", "column %s is declared on line %d, too", c.Name.V, other.Name.At.Line)
			continue
		}
		if !c.Derive.Text.IsSet() {
			continue
		}
		e, errs := expr.Parse(c.Derive.Text.V, c.Derive.Text.At)
		r.List = append(r.List, errs...)
		if len(errs) > 0 {
			continue
		}
		c.Derive.Expr = e
		if of := d.Column(c.Derive.Text.V); len(c.Derive.Merged) > 0 && of != nil && of.BuysLevels() {
			r.Add(c.Derive.Text.At, "list the levels of "+of.Name.V, "derived column %s joins levels by their names, which are bought", c.Name.V)
			continue
		}
		if err := d.Complete(c); err != nil {
			hint := ""
			if c.Numeric() {
				hint = "declare {is: ..., lower: ..., upper: ...}, of columns in the unit of the file"
			}
			r.Add(c.Derive.Text.At, hint, "derived column %s: %v", c.Name.V, err)
			continue
		}
		if c.Numeric() {
			r.checkBounds(c, present{"lower": true, "upper": true})
		} else {
			r.refuse(c, "bounds, scale or transform", c.Lower.At, c.Upper.At, c.Transform.At, c.Center.At, c.By.At)
			if c.Reference.IsSet() && c.Level(c.Reference.V) < 0 {
				r.Add(c.Reference.At, spell.Suggest(c.Reference.V, "levels", c.LevelNames()), "column %s has no level %s", c.Name.V, c.Reference.V)
			}
		}
		d.Derived = append(d.Derived, c)
	}
}
