package data

import (
	"math"
	"slices"

	"d3p/internal/models/source"
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

// ColumnTypes lists the types in the order of the manual.
var ColumnTypes = []string{Real, Integer, Binary, Category, Ordinal, Date}

// Transform is a function of numbers.
type Transform struct {
	Name          string
	Want          string // bounds within which it is defined and finite
	Fits          func(lower, upper float64) bool
	Apply, invert func(float64) float64
}

// Transforms lists the functions that may be applied to a number after clamping.
var Transforms = []Transform{
	{"log", "above 0", func(l, _ float64) bool { return l > 0 }, math.Log, math.Exp},
	{"log1p", "above -1", func(l, _ float64) bool { return l > -1 }, math.Log1p, math.Expm1},
	{"sqrt", "at least 0", func(l, _ float64) bool { return l >= 0 }, math.Sqrt, func(x float64) float64 { return x * x }},
	{"logit", "strictly between 0 and 1", func(l, u float64) bool { return l > 0 && u < 1 },
		func(x float64) float64 { return math.Log(x) - math.Log1p(-x) },
		func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
}

// Column declares one column of the table.
type Column struct {
	Name         source.Value[string]
	Header       source.Value[string] // its name in the data file, when that is another
	Type         source.Value[string]
	Origin       source.Value[int]     // of dates: the day, from 1970-01-01, that they count from
	Lower, Upper source.Value[float64] // bounds, in the unit of the file; of dates, in days since the origin
	Symbol       source.Value[string]  // text before or after the numbers in the file
	Transform    source.Value[string]  // applied after clamping to the bounds
	Center, By   source.Value[float64] // scale, in the transformed unit
	Levels       []source.Value[string]
	Spelled      []Merge              // other texts of the file that mean a level, in the order of Levels; nil: none
	LevelsFrom   source.Value[string] // file.csv#column, a public list
	Reference    source.Value[string] // the level that has no coefficient; unset: the first
	Unknown      source.Value[string] // the level for values that are not declared, or RejectRow
	Source       source.Value[string] // where the declared constants come from
	// ConstantWithin is the category whose level determines the column's value, or NoGroup
	// if records of a level differ; unset: not known.
	ConstantWithin source.Value[string]
	Missing        Missing
	// MissingTokens are cells that mean "no value" in this column, besides those of the table.
	MissingTokens []source.Value[string]
	Derive        *Derivation // of a column that the file does not have; nil for others

	Prices  Prices                                           // prices of bought numbers and levels
	Settled bool                                             // the bought numbers or levels are in the column
	Dates   struct{ Lower, Upper, Center source.Value[int] } // in the file's spelling
}

// RejectRow as a column's `unknown:` makes a record with an undeclared level
// contribute zero.
const RejectRow = "reject_row_silently"

// NoGroup as a column's ConstantWithin means that it varies within every group.
const NoGroup = "none"

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

// Spellings are the texts of the file, besides the levels, with the index of their level; nil: none.
func (c *Column) Spellings() map[string]int {
	if c.Spelled == nil {
		return nil
	}
	list := make(map[string]int)
	for code, m := range c.Spelled {
		for _, text := range m.From {
			list[text.V] = code
		}
	}
	return list
}

// Level returns the index of a level, or -1.
func (c *Column) Level(name string) int {
	return slices.IndexFunc(c.Levels, func(l source.Value[string]) bool { return l.V == name })
}

// ReferenceLevel is the index of the level without a coefficient.
func (c *Column) ReferenceLevel() int {
	if c.Reference.IsSet() {
		return max(0, c.Level(c.Reference.V))
	}
	return 0
}

// HeaderName is the column's name in the data file.
func (c *Column) HeaderName() string { return c.Header.Or(c.Name.V) }

// Scale returns the constants that standardise the column, (x - center) / by in the
// transformed unit: the declared ones, or those that give a uniform variable on the
// declared bounds mean 0 and variance 1.
func (c *Column) Scale() (center, by float64) {
	lower, upper := c.Transformed(c.Lower.V), c.Transformed(c.Upper.V)
	return c.Center.Or((lower + upper) / 2), c.By.Or((upper - lower) / math.Sqrt(12))
}

// TransformNamed is the transform of that name, or nil.
func TransformNamed(name string) *Transform {
	for i := range Transforms {
		if Transforms[i].Name == name {
			return &Transforms[i]
		}
	}
	return nil
}

// Transformed applies the declared transform to a number.
func (c *Column) Transformed(x float64) float64 {
	if t := TransformNamed(c.Transform.V); t != nil {
		return t.Apply(x)
	}
	return x
}

// Untransformed undoes the declared transform.
func (c *Column) Untransformed(x float64) float64 {
	if t := TransformNamed(c.Transform.V); t != nil {
		return t.invert(x)
	}
	return x
}

// TransformNames are the names of Transforms, in their order.
func TransformNames() []string {
	names := make([]string, len(Transforms))
	for i, t := range Transforms {
		names[i] = t.Name
	}
	return names
}

// Numeric are the types of a column of numbers.
var Numeric = []string{Real, Integer, Date}
