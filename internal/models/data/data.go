// Package data is the declaration of a table: its unit, rows, columns, tensors and
// public tables, as a model file states them. All of it is public knowledge.
package data

import (
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Data is the declaration of the table: all of it is public knowledge, stated
// before a record is read.
type Data struct {
	Unit       Unit
	Rows       Rows
	OutOfRange source.Value[string] // clamp or reject
	Columns    []*Column            // in file order
	Derived    []*Column            // columns that follow from others of the same record
	Tensors    []*Tensor            // arrays of further columns
	Tables     []*Table             // public tables, joined by a category column
	Missing    Missing              // the rule of columns that state none
	// MissingTokens are the cells that mean "no value"; unset: the usual ones.
	MissingTokens []source.Value[string]
	Decimal       source.Value[string]   // "." or ",": how files of text write numbers; unset: the point
	Thousands     source.Value[string]   // between groups of three digits of numbers in files of text; unset: nothing
	Dates         source.Value[string]   // DayFirst or MonthFirst: how files of text write dates; unset: ISO 8601
	Encoding      source.Value[string]   // one of Encodings: how files of text write letters; unset: UTF-8
	Format        source.Value[string]   // one of Formats: the format of the files; unset: from their name
	Separator     source.Value[string]   // one of Separators: separates fields in files of text; unset: from the header line
	Quotes        source.Value[string]   // OneLine or NoQuotes: restricts quotes in files of text; unset: they may join lines, too
	Header        []source.Value[string] // names of all columns of files whose first line is a record; unset: the first line names them
	Drop          []source.Value[string] // columns of the file that the model must not see
	Weights       source.Value[string]   // the column that weights the log density of a record; unset: 1
}

// Unit states what one protected entity is. It has no default.
type Unit struct {
	At          expr.Position
	Entity      source.Value[string] // a word for people: patient, household
	ID          source.Value[string] // the column that names the unit; unset: every row is a unit
	RowsPerUnit source.Value[int]    // rows of a unit that are kept
	Keep        source.Value[string] // which rows of a longer unit to keep: random or first
}

// MaxRowsPerUnit bounds RowsPerUnit: the model is lowered once for every row.
const MaxRowsPerUnit = 64

// Rows states how the number of units is known: Public or UpperBound is set.
type Rows struct {
	Public     source.Value[int] // the number itself is public
	UpperBound source.Value[int] // a public bound on it
	// DP is the epsilon of buying the number, too, besides UpperBound.
	DP source.Value[float64]
}

// N is the public number that scales sums: the public number of units or its
// upper bound.
func (r Rows) N() int {
	if r.Public.IsSet() {
		return r.Public.V
	}
	return r.UpperBound.V
}

// Column returns the declared or derived column of that name, or nil.
func (d *Data) Column(name string) *Column {
	for _, list := range [][]*Column{d.Columns, d.Derived} {
		for _, c := range list {
			if c.Name.V == name {
				return c
			}
		}
	}
	return nil
}

// ColumnNames lists the declared columns in file order, then the derived ones.
func (d *Data) ColumnNames() []string {
	var names []string
	for _, list := range [][]*Column{d.Columns, d.Derived} {
		for _, c := range list {
			names = append(names, c.Name.V)
		}
	}
	return names
}

// UsualMissingTokens are the tokens of a model file that declares none.
func UsualMissingTokens() []string { return []string{"NA", "N/A", "NaN", "null", "NULL", "."} }
