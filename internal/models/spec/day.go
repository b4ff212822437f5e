package spec

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// dated is a number of a column that may be written as a date, before the type
// of the column is known.
func dated(key string, number *source.Value[float64], date *source.Value[int]) field {
	return value(key, number, func(r *reader, e entry) (v source.Value[float64]) {
		if r.describes("number", "string") {
			return v
		}
		if day, at, ok := r.date(e); ok {
			*date = source.Value[int]{V: day, At: at}
			return v
		}
		return r.number(e)
	})
}

// date reads a date, if the entry is one.
func (r *reader) date(e entry) (day int, at expr.Position, ok bool) {
	s, ok := e.node.(*ast.StringNode)
	if !ok {
		return 0, at, false
	}
	day, ok = data.ParseDay([]byte(s.Value))
	return day, r.at(s), ok
}

// checkDates turns the dates of a declaration into days since the column's
// origin, which is the lower bound unless declared, and reports dates of
// columns of other types, and bounds that are not dates.
func (r *reader) checkDates(c *data.Column) {
	list := []struct {
		key    string
		date   source.Value[int]
		number *source.Value[float64]
	}{{"lower", c.Dates.Lower, &c.Lower}, {"upper", c.Dates.Upper, &c.Upper}, {"center", c.Dates.Center, &c.Center}}
	if c.Type.V != data.Date {
		for _, l := range list {
			if l.date.IsSet() && c.Type.IsSet() {
				r.Add(l.date.At, "declare the column `type: date`", "%s of a column of type %s must be a number, not %s", l.key, c.Type.V, data.FormatDay(l.date.V))
			}
		}
		if c.Origin.IsSet() && c.Type.IsSet() {
			r.Add(c.Origin.At, "", "a column of type %s has no origin", c.Type.V)
		}
		return
	}
	if !c.Origin.IsSet() {
		c.Origin.V = c.Dates.Lower.V
	}
	for _, l := range list {
		switch {
		case l.date.IsSet():
			*l.number = source.Value[float64]{V: float64(l.date.V - c.Origin.V), At: l.date.At}
		case l.number.IsSet() && l.number != &c.Center: // days since the origin
			r.Add(l.number.At, "write it as 2024-02-29", "%s of a date must be a date, not %s", l.key, strconv.FormatFloat(l.number.V, 'g', -1, 64))
			*l.number = source.Value[float64]{}
		}
	}
}

// origin is `origin:`, the day that a date column counts from.
func origin(c *data.Column) field {
	return field{key: "origin", read: func(r *reader, e entry) { r.origin(e, c) }}.
		as(func() string { return c.Cell(0) }).when(c.Type.V == data.Date)
}

// origin reads the day that a date column counts from.
func (r *reader) origin(e entry, c *data.Column) {
	if r.describes("string") {
		return
	}
	day, at, ok := r.date(e)
	if !ok {
		r.Add(r.at(e.node), "write it as 2024-02-29", "origin must be a date")
		return
	}
	c.Origin = source.Value[int]{V: day, At: at}
}
