package models

import (
	"d3p/internal/models/core"
	"d3p/internal/spell"
)

// hint is "did you mean x?" for the nearest known name, or "".
func hint(name string, known []string) string {
	if n := spell.Name(name, known); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}

// checkNames reports names that mean two things.
func (c *compiler) checkNames() {
	taken := make(map[string]string)
	for _, column := range c.columns {
		taken[column] = "a column"
	}
	for _, d := range c.core.Dims {
		if taken[d.Name.V] != "" && d.Of.V != d.Name.V {
			c.errs.Add(d.Name.At, "only levels(column) may have the column's name", "dim %s has the name of %s", d.Name.V, taken[d.Name.V])
		}
	}
	for _, list := range []struct {
		what        string
		definitions []*core.Definition
	}{{"a parameter", c.core.Params}, {"a quantity", c.core.Let}, {"a quantity of the row", c.core.RowsLet}} {
		for _, d := range list.definitions {
			if other := taken[d.Name.V]; other != "" {
				c.errs.Add(d.Name.At, "rename one of them", "%s is also %s", d.Name.V, other)
			}
			taken[d.Name.V] = list.what
		}
	}
}
