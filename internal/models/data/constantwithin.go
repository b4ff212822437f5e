package data

import (
	"slices"

	"d3p/internal/models/expr"
)

// Group is the category within whose levels column c is constant; nil if none is
// declared.
func (d *Data) Group(c *Column) *Column {
	if v := c.ConstantWithin.V; v != "" && v != NoGroup {
		return d.Column(v)
	}
	return nil
}

// MayBeConstantWithin reports whether the declarations leave open if all records of a
// level of group have one value of c. A derived column is as its columns are: one that
// varies is enough.
func (d *Data) MayBeConstantWithin(c, group *Column) bool {
	if c.Derive == nil {
		return !c.ConstantWithin.IsSet()
	}
	open := false
	for _, name := range expr.Names(c.Derive.Expr) {
		of := d.Column(name)
		if of == nil {
			continue
		}
		if of.ConstantWithin.IsSet() && d.Group(of) != group {
			return false
		}
		open = open || d.MayBeConstantWithin(of, group)
	}
	return open
}

// OpenSources are the columns of the file that decide whether an open column c, see
// MayBeConstantWithin, is constant within group: c, or those that a derived c is made of.
func (d *Data) OpenSources(c, group *Column) (list []*Column) {
	if c.Derive == nil {
		return []*Column{c}
	}
	for _, name := range expr.Names(c.Derive.Expr) {
		if of := d.Column(name); of != nil && d.MayBeConstantWithin(of, group) {
			list = append(list, d.OpenSources(of, group)...)
		}
	}
	return list
}

// isCircular reports whether the groups of c, the groups of these, and so on, come back to
// one of them.
func (d *Data) isCircular(c *Column) bool {
	chain := []*Column{c}
	for g := d.Group(c); g != nil; g = d.Group(g) {
		if slices.Contains(chain, g) {
			return true
		}
		chain = append(chain, g)
	}
	return false
}

// CheckGroups reports columns that are declared constant within a column that is no
// category.
func (b *Checker) CheckGroups() {
	for _, c := range b.Data.Columns {
		v := c.ConstantWithin
		if !v.IsSet() || v.V == NoGroup {
			continue
		}
		switch g := b.Data.Column(v.V); {
		case g == nil:
			b.Undeclared(v)
		case g == c || g.Derive != nil || g.Numeric():
			b.Add(v.At, "name a category, or write `none` for a column that varies within groups", "column %s cannot be constant within %s", c.Name.V, v.V)
		case b.Data.isCircular(c):
			b.Add(v.At, "", "column %s is constant within itself, by way of %s", c.Name.V, v.V)
		}
	}
}
