package models

import (
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// level is the number of a record's level of a derived category, from 0.
func (g *build) level(c *data.Column) *graph.Node {
	d := &g.c.spec.Data
	level := g.b.Const(0)
	if x, at, ok, _ := data.Cut(c.Derive.Expr); ok {
		number := g.own(c, x)
		for _, limit := range at {
			below := g.b.Less(number, g.b.Const(limit))
			level = g.b.Add(level, g.b.Sub(g.b.Const(1), below))
		}
		return level
	}
	if crossed := d.Crossed(c.Derive.Expr); crossed != nil {
		for i, of := range crossed {
			if i > 0 {
				level = g.b.Mul(level, g.b.Const(float64(len(of.Levels))))
			}
			level = g.b.Add(level, g.code(of))
		}
		return level
	}
	of := d.Column(c.Derive.Expr.(*expr.Name).ID)
	code := g.code(of)
	for k, m := range c.Derive.Merged {
		for _, l := range m.From {
			if k > 0 {
				is := g.b.Equal(code, g.b.Const(float64(of.Level(l.V))))
				level = g.b.Add(level, g.b.Mul(is, g.b.Const(float64(k))))
			}
		}
	}
	return level
}

// code is the number of a record's level of a category, from 0.
func (g *build) code(c *data.Column) *graph.Node {
	if c.Derive != nil {
		return g.derived(c).Node
	}
	return g.read(g.c.encoder.Code(c, encoding.Predictor))
}
