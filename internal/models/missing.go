package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
)

// indicators are 1 in records without a value of a column, one node for each column; nil if
// no column has modelled missing values. It reports columns whose rule for missing values
// and distribution disagree.
func (g *build) indicators(d *core.Definition, columns []*data.Column, density dist.Density) ([]*graph.Node, bool) {
	modelled := dist.ElementsMissing(density, len(columns))
	var nodes []*graph.Node
	ok := true
	for i, c := range columns {
		rule := g.c.spec.Data.MissingOf(c).Rule == data.MissingModel
		switch {
		case rule && !modelled[i]:
			g.c.errs.Add(d.Text.At, "write missing(p, distribution), or declare `missing: reject` for the column",
				"missing values of column %s are declared as part of the model, but its distribution has none", c.Name.V)
			ok = false
		case modelled[i] && !rule:
			g.c.errs.Add(d.Text.At, "declare `missing: model` for the column",
				"the distribution of column %s models missing values, but the declaration rejects them", c.Name.V)
			ok = false
		case rule && nodes == nil:
			nodes = make([]*graph.Node, len(columns))
			for j := range nodes {
				nodes[j] = g.b.Const(0)
			}
		}
		if rule && ok {
			nodes[i] = g.read(g.c.encoder.Absent(c))
		}
	}
	return nodes, ok
}

// checkMissing reports predictors whose missing values are declared as part of the model,
// because the model has no distribution for them.
func (c *compiler) checkMissing() {
	predictors := make(map[string]bool)
	for _, f := range c.encoder.Fields {
		predictors[f.Column] = predictors[f.Column] || f.Role != encoding.Response
	}
	for _, column := range c.spec.Data.Columns {
		if rule := c.spec.Data.MissingOf(column); predictors[column.HeaderName()] && rule.Rule == data.MissingModel {
			c.errs.Add(rule.At, "use `reject` or `{impute: value, indicator: true}`", "column %s is a predictor, and the model has no distribution of its values", column.Name.V)
		}
	}
}
