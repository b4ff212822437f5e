package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
)

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

// ordered returns definitions such that each stands after those it names, and
// reports definitions that need themselves.
func (c *compiler) ordered(list []*core.Definition) []*core.Definition {
	byName := make(map[string]*core.Definition)
	for _, d := range list {
		byName[d.Name.V] = d
	}
	var out []*core.Definition
	const visiting, done = 1, 2
	state := make(map[*core.Definition]int)
	var visit func(d *core.Definition)
	visit = func(d *core.Definition) {
		switch state[d] {
		case done:
			return
		case visiting:
			c.errs.Add(d.Name.At, "", "%s is defined by itself", d.Name.V)
			state[d] = done
			return
		}
		state[d] = visiting
		for _, name := range expr.Names(d.Expr) {
			if other := byName[name]; other != nil {
				visit(other)
			}
		}
		if state[d] == visiting {
			out = append(out, d)
		}
		state[d] = done
	}
	for _, d := range list {
		if d.Expr != nil {
			visit(d)
		}
	}
	return out
}
