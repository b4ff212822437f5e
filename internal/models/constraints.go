package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// Constraints are the conditions that every record of a synthetic table meets.
type Constraints struct {
	Tape  *graph.Tape
	Reads [][]int // of each condition: the columns that it reads
}

// constraints compiles the conditions; nil if there are none. Their record has all declared
// columns in the unit of the file, levels by index.
func (c *compiler) constraints() *Constraints {
	list := c.core.Constraints
	if len(list) == 0 {
		return nil
	}
	g := &build{c: c, b: graph.NewBuilder(), env: c.environment()}
	for i, column := range c.spec.Data.Columns {
		n := g.b.Column(i)
		g.env.Values[column.Name.V] = expr.Value{Node: n, Raw: n, Labels: column.LevelNames()}
		if column.Numeric() {
			g.env.Values[column.Name.V] = expr.Value{Node: n, Raw: n}
		}
	}
	all := &Constraints{}
	for _, condition := range list {
		if condition.Expr == nil {
			continue
		}
		n, errs := expr.Lower(condition.Expr, g.env, g.b)
		c.errs = append(c.errs, errs...)
		if err := c.spec.Data.OneOrigin(condition.Expr); err != nil {
			c.errs.Add(condition.Text.At, "", "%s", err)
		}
		reads := c.columnIndices(condition)
		switch {
		case n == nil:
		case len(n.Shape()) > 0:
			c.errs.Add(condition.Text.At, "", "a constraint is one condition per record, not one for each of %v", n.Shape())
		case len(reads) == 0:
			c.errs.Add(condition.Text.At, "write a condition such as age >= 18", "the constraint is not about any column")
		default:
			g.outputs = append(g.outputs, n)
			all.Reads = append(all.Reads, reads)
		}
	}
	if len(c.errs) > 0 {
		return nil
	}
	var err error
	all.Tape, err = graph.Compile(g.b, nil, g.outputs, graph.Options{Columns: len(c.columns)})
	c.graphError(err)
	return all
}

// columnIndices lists the columns that a condition names.
func (c *compiler) columnIndices(condition *core.Constraint) []int {
	var at []int
	for _, name := range expr.Names(condition.Expr) {
		for i, column := range c.columns {
			if column == name {
				at = append(at, i)
			}
		}
	}
	return at
}
