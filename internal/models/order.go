package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
)

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
