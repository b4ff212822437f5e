package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// tables gives the columns of public tables their values: constants along the dim of the
// levels of the table's key. A dim whose labels are columns of such a table has a matrix,
// columns(dim), with one row per level.
func (g *build) tables() {
	for _, levels := range g.c.core.Dims {
		t := g.c.spec.Data.Table(levels.Of.V)
		if !levels.Of.IsSet() || t == nil {
			continue
		}
		rows := graph.Dim{Name: levels.Name.V, Size: g.c.dims[levels.Name.V].Size}
		for _, c := range t.Columns {
			if v, ok := t.Vector(c.Name.V); ok && len(v) == rows.Size {
				g.env.Values[c.Name.V] = expr.Value{Node: g.b.Consts(graph.Shape{rows}, v)}
			}
		}
		for _, d := range g.c.core.Dims {
			if m, ok := tableMatrix(t, d, rows.Size); ok {
				g.env.Design[d.Name.V] = g.b.Consts(graph.Shape{rows, {Name: d.Name.V, Size: len(d.Labels)}}, m)
			}
		}
	}
}

// scales gives NAME.center and NAME.by their values, for columns and for dims whose labels
// are predictors. For dims with products of predictors it gives NAME.shift and the matrix
// of unscaled().
func (g *build) scales() {
	d := &g.c.spec.Data
	for _, c := range d.Columns {
		if c.Numeric() {
			center, by := c.Scale()
			g.env.Values[c.Name.V+".center"] = expr.Value{Node: g.b.Const(center)}
			g.env.Values[c.Name.V+".by"] = expr.Value{Node: g.b.Const(by)}
		}
	}
	for _, dim := range g.c.core.Dims {
		g.contrasts(dim)
		labels := g.c.dims[dim.Name.V].Labels
		if center, by, ok := d.Scales(labels); ok && len(dim.Labels) > 0 {
			shape := graph.Shape{{Name: dim.Name.V, Size: len(labels)}}
			g.env.Values[dim.Name.V+".center"] = expr.Value{Node: g.b.Consts(shape, center)}
			g.env.Values[dim.Name.V+".by"] = expr.Value{Node: g.b.Consts(shape, by)}
		} else if u, ok := d.Unscaling(labels); ok && len(dim.Labels) > 0 {
			shape := graph.Shape{{Name: dim.Name.V, Size: len(labels)}}
			g.env.Unscalings[dim.Name.V] = &graph.Combination{From: u.From, Into: u.Into, Times: u.Times}
			g.env.Values[dim.Name.V+".shift"] = expr.Value{Node: g.b.Consts(shape, u.Shift)}
		}
	}
}

// contrasts gives NAME.contrasts its value if NAME is a category with a dim of its levels,
// and the dim `effect` has its levels but the reference. The value is the matrix with 1
// where effect and level are equal. So eta @ NAME.contrasts has one number per level, 0 for
// the reference.
func (g *build) contrasts(levels *core.Dim) {
	c := g.c.spec.Data.Column(levels.Of.V)
	effect := g.c.dims["effect"]
	if c == nil || c.Name.V != levels.Name.V || effect.Size != len(c.Levels)-1 {
		return
	}
	m := make([]float64, effect.Size*len(c.Levels))
	for i, label := range effect.Labels {
		l := c.Level(label)
		if l < 0 {
			return
		}
		m[i*len(c.Levels)+l] = 1
	}
	shape := graph.Shape{{Name: "effect", Size: effect.Size}, {Name: levels.Name.V, Size: len(c.Levels)}}
	g.env.Values[c.Name.V+".contrasts"] = expr.Value{Node: g.b.Consts(shape, m)}
}

// tableMatrix has the values of a dim's labels in a table, row by row. It returns false if
// a label has no value there.
func tableMatrix(t *data.Table, d *core.Dim, rows int) ([]float64, bool) {
	m := make([]float64, rows*len(d.Labels))
	for j, label := range d.Labels {
		v, ok := t.Vector(label.V)
		if !ok || len(v) != rows {
			return nil, false
		}
		for i := range v {
			m[i*len(d.Labels)+j] = v[i]
		}
	}
	return m, len(m) > 0
}
