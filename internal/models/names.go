package models

import (
	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
	"d3p/internal/nearest"
)

// hint is "did you mean x?" for the nearest known name, or "".
func hint(name string, known []string) string {
	if n := nearest.Name(name, known); n != "" {
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
		definitions []*spec.Definition
	}{{"a parameter", c.core.Params}, {"a quantity", c.core.Let}, {"a quantity of the row", c.core.RowsLet}} {
		for _, d := range list.definitions {
			if other := taken[d.Name.V]; other != "" {
				c.errs.Add(d.Name.At, "rename one of them", "%s is also %s", d.Name.V, other)
			}
			taken[d.Name.V] = list.what
		}
	}
}

// checkUse reports an empty observe block, and parameters and quantities that
// what is observed does not depend on.
func (c *compiler) checkUse() {
	if len(c.core.Observe) == 0 {
		c.errs.Add(c.core.At, "add `rows: observe:` with a line `column: distribution`", "the model observes nothing")
		return
	}
	used := make(map[string]bool)
	definitions := make(map[string][]*spec.Definition)
	for _, list := range [][]*spec.Definition{c.core.Params, c.core.Let, c.core.RowsLet} {
		for _, d := range list {
			definitions[d.Name.V] = append(definitions[d.Name.V], d)
		}
	}
	var use func(e expr.Expr)
	use = func(e expr.Expr) {
		for _, name := range expr.Names(e) {
			if used[name] {
				continue
			}
			used[name] = true
			for _, d := range definitions[name] {
				if d.Expr != nil {
					use(d.Expr)
				}
			}
		}
	}
	for _, d := range c.core.Observe {
		if d.Expr != nil {
			use(d.Expr)
		}
	}
	for _, p := range c.priors {
		if !used[p.definition.Name.V] {
			c.errs.Add(p.definition.Name.At, "use it in what is observed, or remove it", "nothing uses parameter %s", p.definition.Name.V)
		}
	}
	for _, d := range c.core.RowsLet {
		if !used[d.Name.V] {
			c.errs.Add(d.Name.At, "remove it", "nothing uses %s", d.Name.V)
		}
	}
}
