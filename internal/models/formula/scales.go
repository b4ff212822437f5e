package formula

import (
	"fmt"
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
)

// mostScales is the number of scales between bounds from which a warning follows.
const mostScales = 20

// checkScales warns of numbers whose scale follows from bounds alone, and of declared scales
// that do not fit the bounds.
func (b *checker) checkScales(m *Model, f *family) {
	response := b.Data.Column(m.Terms.Response.V)
	var bare []*data.Column
	if f != nil && f.scaled && response != nil && response.Numeric() && !response.Buys() {
		if !response.By.IsSet() {
			bare = append(bare, response)
		} else if response.Transform.IsSet() {
			b.checkScale(response)
		}
	}
	for _, c := range m.predictors(b.Data) {
		switch {
		case !c.Numeric() || c.Derive != nil || c == response || c.Buys():
		case !c.By.IsSet():
			bare = append(bare, c)
		default:
			b.checkScale(c)
		}
	}
	if len(bare) > 0 {
		b.Warnings.Add(bare[0].Name.At, "declare `scale: {center:, by:}`: a typical value and a typical deviation, from the codebook",
			"without a scale: %s; it follows from the bounds, and wide bounds leave results imprecise", data.Listed(bare))
	}
}

// checkScale warns of a scale that is wider than the bounds or outside them, as one in the unit of
// the file is for a column with a transform, and of bounds much wider than the scale: either one
// of the two is wrong, or a few records have most of the weight.
func (b *checker) checkScale(c *data.Column) {
	lower, upper := c.Transformed(c.Lower.V), c.Transformed(c.Upper.V)
	center, by := c.Scale()
	switch width := (upper - lower) / by; {
	case width > mostScales:
		b.Warnings.Add(c.Name.At, "narrow the bounds, or widen the scale", "the bounds of column %s are %.0f scales apart", c.Name.V, width)
	case width >= 1 && lower <= center && center <= upper:
	case c.Transform.IsSet():
		b.Warnings.Add(c.Name.At, fmt.Sprintf("write center and by in the unit of %s(%s), which lies between %.3g and %.3g", c.Transform.V, c.Name.V, lower, upper),
			"the scale of column %s is not within its bounds", c.Name.V)
	default:
		b.Warnings.Add(c.Name.At, "write a typical value and a typical deviation", "the scale of column %s is not within its bounds", c.Name.V)
	}
}

// checkWithin warns of predictors that may be constant within groups of the formula.
func (b *checker) checkWithin(m *Model) {
	for _, o := range m.Open(b.Data) {
		b.Warnings.Add(o.Columns[0].Name.At, "declare `constant_within: "+o.Group+"` for those, `constant_within: none` for the others",
			"columns may have one value for all records of a %s: %s; a private fit gives those too narrow intervals unless Table 1 buys how they vary within groups", o.Group, data.Listed(o.Columns))
	}
}

// Open are predictors that may have one value for all records of a group under the
// declarations. Their coefficients then compare groups, not records.
type Open struct {
	Group   string
	Columns []*data.Column
}

// Open are the predictors of a formula that are open, by group.
func (m *Model) Open(d *data.Data) (list []Open) {
	for _, g := range m.Terms.Groups {
		group := d.Column(g.Group.V)
		if group == nil || group.Numeric() {
			continue
		}
		o := Open{Group: group.Name.V}
		for _, c := range m.predictors(d) {
			if c != group && !isPart(group, c) && d.MayBeConstantWithin(c, group) {
				o.Columns = append(o.Columns, c)
			}
		}
		if len(o.Columns) > 0 {
			list = append(list, o)
		}
	}
	return list
}

// isPart reports whether a derived group is made of column c, and so of others within its
// levels.
func isPart(group, c *data.Column) bool {
	return group.Derive != nil && slices.Contains(expr.Names(group.Derive.Expr), c.Name.V)
}

// predictors are the columns of the terms of a formula outside its groups, each once.
func (m *Model) predictors(d *data.Data) (list []*data.Column) {
	seen := map[string]bool{}
	for _, t := range m.Terms.Terms {
		for _, name := range t.Columns {
			if c := d.Column(name); c != nil && !seen[name] {
				seen[name] = true
				list = append(list, c)
			}
		}
	}
	return list
}
