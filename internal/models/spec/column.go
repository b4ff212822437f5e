package spec

import (
	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
)

// columns reads `columns:`, one declaration per column.
func (r *reader) columns(e entry) []*data.Column {
	return r.declarations(e, func(c *data.Column, keys present) {
		if !source.IsName(c.Name.V) {
			r.Add(c.Name.At, "give it a plain name and write `header: \""+c.Name.V+"\"`", "column %q cannot be named in a formula", c.Name.V)
		}
		if keys != nil {
			r.checkColumn(c, keys)
		}
	})
}

// declarations reads a declaration per column, and has each checked; keys are
// nil where it could not be read.
func (r *reader) declarations(e entry, check func(c *data.Column, keys present)) []*data.Column {
	list, ok := r.entries(e.node, "columns")
	if !ok {
		return nil
	}
	var columns []*data.Column
	for _, e := range list {
		c := &data.Column{Name: source.Value[string]{V: e.key, At: e.at}}
		columns = append(columns, c)
		var keys present
		if e.node != nil {
			keys = r.column(e, c)
		}
		check(c, keys)
	}
	return columns
}

// column reads the declaration of one column.
func (r *reader) column(e entry, c *data.Column) present {
	keys := r.object(e.node, "column "+e.key, fields{
		"type":        func(e entry) { c.Type = r.choice(e, data.ColumnTypes...) },
		"header":      func(e entry) { c.Header = r.text(e) },
		"lower":       func(e entry) { r.dated(e, &c.Lower, &c.Dates.Lower) },
		"upper":       func(e entry) { r.dated(e, &c.Upper, &c.Dates.Upper) },
		"origin":      func(e entry) { r.origin(e, c) },
		"transform":   func(e entry) { c.Transform = r.choice(e, data.TransformNames()...) },
		"scale":       func(e entry) { r.scale(e, c) },
		"levels":      func(e entry) { r.levels(e, c) },
		"levels_from": func(e entry) { c.LevelsFrom = r.text(e) },
		"reference":   func(e entry) { c.Reference = r.text(e) },
		"unknown":     func(e entry) { c.Unknown = r.text(e) },
		"source":      func(e entry) { c.Source = r.text(e) },
		"missing":     func(e entry) { c.Missing = r.missingRule(e) },
		"bounds":      func(e entry) { r.spend(e) },
	})
	r.checkDates(c)
	return keys
}

// bound reads a bound, which may not be bought yet.
func (r *reader) bound(e entry) source.Value[float64] {
	if _, ok := e.node.(*ast.MappingNode); ok {
		r.spend(e)
		return source.Value[float64]{}
	}
	return r.number(e)
}

// spend reads `{spend: epsilon}` and says that nothing can be bought yet.
func (r *reader) spend(e entry) {
	if r.describesNothing() {
		return
	}
	r.object(e.node, e.key, fields{"spend": func(e entry) { r.positive(e) }})
	r.Add(e.at, "declare it", "buying %s is not available yet", e.key)
}

// scale reads `scale: {center:, by:}`.
func (r *reader) scale(e entry, c *data.Column) {
	r.object(e.node, "scale", fields{
		"center": func(e entry) { r.dated(e, &c.Center, &c.Dates.Center) },
		"by":     func(e entry) { c.By = r.positive(e) },
	})
}

// levels reads a list of levels, or the first and the last of whole numbers, as in
// 1..61. They may not be bought yet.
func (r *reader) levels(e entry, c *data.Column) {
	r.describes("string") // besides the list
	switch n := e.node.(type) {
	case *ast.MappingNode:
		c.Bought = true
		r.spend(e)
	case *ast.StringNode:
		c.Levels = r.wholeLevels(n)
	default:
		c.Levels = r.texts(e)
		r.unique("level", c.Levels)
	}
}
