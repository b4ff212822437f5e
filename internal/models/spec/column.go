package spec

import (
	"math"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/expr"
)

// The types of columns.
const (
	Real     = "real"
	Integer  = "integer"
	Binary   = "binary"
	Category = "category"
	Ordinal  = "ordinal"
	Date     = "date"
)

// columnTypes lists the types in the order of the manual.
var columnTypes = []string{Real, Integer, Binary, Category, Ordinal, Date}

// transforms lists what may be applied to a number after clamping, with the
// bounds within which each is defined and finite.
var transforms = []struct {
	name          string
	want          string
	fits          func(lower, upper float64) bool
	apply, invert func(float64) float64
}{
	{"log", "above 0", func(l, _ float64) bool { return l > 0 }, math.Log, math.Exp},
	{"log1p", "above -1", func(l, _ float64) bool { return l > -1 }, math.Log1p, math.Expm1},
	{"sqrt", "at least 0", func(l, _ float64) bool { return l >= 0 }, math.Sqrt, func(x float64) float64 { return x * x }},
	{"logit", "strictly between 0 and 1", func(l, u float64) bool { return l > 0 && u < 1 },
		func(x float64) float64 { return math.Log(x) - math.Log1p(-x) },
		func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
}

// Column declares one column of the table.
type Column struct {
	Name         Value[string]
	Header       Value[string] // its name in the data file, when that is another
	Type         Value[string]
	Origin       Value[int]     // of dates: the day, from 1970-01-01, that they count from
	Lower, Upper Value[float64] // bounds, in the unit of the file; of dates, in days since the origin
	Transform    Value[string]  // applied after clamping to the bounds
	Center, By   Value[float64] // scale, in the transformed unit
	Levels       []Value[string]
	LevelsFrom   Value[string] // file.csv#column, a public list
	Reference    Value[string] // the level that has no coefficient; unset: the first
	Unknown      Value[string] // the level for values that are not declared, or RejectRow
	Source       Value[string] // where the declared constants come from
	Missing      Missing

	bought bool                                      // its levels are asked for at a price, which is reported
	dates  struct{ lower, upper, center Value[int] } // as they are written
}

// RejectRow as a column's `unknown:` makes a record with an undeclared level
// contribute zero.
const RejectRow = "reject_row_silently"

// Numeric reports whether the column holds numbers, dates being numbers of days.
func (c *Column) Numeric() bool { return c.Type.V == Real || c.Whole() }

// Whole reports whether its numbers are whole.
func (c *Column) Whole() bool { return c.Type.V == Integer || c.Type.V == Date }

// LevelNames lists the declared levels in order.
func (c *Column) LevelNames() []string {
	names := make([]string, len(c.Levels))
	for i, l := range c.Levels {
		names[i] = l.V
	}
	return names
}

// Level returns the index of a level, or -1.
func (c *Column) Level(name string) int {
	return slices.IndexFunc(c.Levels, func(l Value[string]) bool { return l.V == name })
}

// ReferenceLevel is the index of the level that has no coefficient of its own.
func (c *Column) ReferenceLevel() int {
	if c.Reference.IsSet() {
		return max(0, c.Level(c.Reference.V))
	}
	return 0
}

// HeaderName is the column's name in the data file.
func (c *Column) HeaderName() string { return c.Header.Or(c.Name.V) }

// Scale returns the constants that standardise the column, (x - center) / by
// in the transformed unit: the declared ones, or those that give a uniform
// variable on the declared bounds mean 0 and variance 1.
func (c *Column) Scale() (center, by float64) {
	lower, upper := c.Transformed(c.Lower.V), c.Transformed(c.Upper.V)
	return c.Center.Or((lower + upper) / 2), c.By.Or((upper - lower) / math.Sqrt(12))
}

// Transformed applies the declared transform to a number.
func (c *Column) Transformed(x float64) float64 {
	for _, t := range transforms {
		if t.name == c.Transform.V {
			return t.apply(x)
		}
	}
	return x
}

// Untransformed undoes the declared transform.
func (c *Column) Untransformed(x float64) float64 {
	for _, t := range transforms {
		if t.name == c.Transform.V {
			return t.invert(x)
		}
	}
	return x
}

// columns reads `columns:`, one declaration per column.
func (r *reader) columns(e entry) []*Column {
	return r.declarations(e, func(c *Column, keys present) {
		if !isName(c.Name.V) {
			r.add(c.Name.At, "give it a plain name and write `header: \""+c.Name.V+"\"`", "column %q cannot be named in a formula", c.Name.V)
		}
		if keys != nil {
			r.checkColumn(c, keys)
		}
	})
}

// declarations reads a declaration per column, and has each checked; keys are
// nil where it could not be read.
func (r *reader) declarations(e entry, check func(c *Column, keys present)) []*Column {
	list, ok := r.entries(e.node, "columns")
	if !ok {
		return nil
	}
	var columns []*Column
	for _, e := range list {
		c := &Column{Name: Value[string]{e.key, e.at}}
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
func (r *reader) column(e entry, c *Column) present {
	keys := r.object(e.node, "column "+e.key, fields{
		"type":        func(e entry) { c.Type = r.choice(e, columnTypes...) },
		"header":      func(e entry) { c.Header = r.text(e) },
		"lower":       func(e entry) { r.dated(e, &c.Lower, &c.dates.lower) },
		"upper":       func(e entry) { r.dated(e, &c.Upper, &c.dates.upper) },
		"origin":      func(e entry) { r.origin(e, c) },
		"transform":   func(e entry) { c.Transform = r.choice(e, transformNames()...) },
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
func (r *reader) bound(e entry) Value[float64] {
	if _, ok := e.node.(*ast.MappingNode); ok {
		r.spend(e)
		return Value[float64]{}
	}
	return r.number(e)
}

// spend reads `{spend: epsilon}` and says that nothing can be bought yet.
func (r *reader) spend(e entry) {
	if r.describesNothing() {
		return
	}
	r.object(e.node, e.key, fields{"spend": func(e entry) { r.positive(e) }})
	r.add(e.at, "declare it", "buying %s is not available yet", e.key)
}

// scale reads `scale: {center:, by:}`.
func (r *reader) scale(e entry, c *Column) {
	r.object(e.node, "scale", fields{
		"center": func(e entry) { r.dated(e, &c.Center, &c.dates.center) },
		"by":     func(e entry) { c.By = r.positive(e) },
	})
}

// levels reads a list of levels, or the first and the last of whole numbers, as in
// 1..61. They may not be bought yet.
func (r *reader) levels(e entry, c *Column) {
	r.describes("string") // besides the list
	switch n := e.node.(type) {
	case *ast.MappingNode:
		c.bought = true
		r.spend(e)
	case *ast.StringNode:
		c.Levels = r.wholeLevels(n)
	default:
		c.Levels = r.texts(e)
		r.unique("level", c.Levels)
	}
}

func transformNames() []string {
	names := make([]string, len(transforms))
	for i, t := range transforms {
		names[i] = t.name
	}
	return names
}

// isName reports whether s can be written as a name in an expression.
func isName(s string) bool {
	e, errs := expr.Parse(s, Position{})
	if len(errs) > 0 {
		return false
	}
	n, ok := e.(*expr.Name)
	return ok && n.ID == s
}
