package records

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
)

// NotProtected marks a description of records.
const NotProtected = "NOT_PROTECTED"

// Check counts the effects of the declared rules on the table. It is about records, so it
// is private: d3p writes it under private/ only.
type Check struct {
	Privacy  string        `json:"privacy"` // always NOT_PROTECTED
	File     string        `json:"file"`
	Records  int           `json:"records"` // units
	Rejected int           `json:"rejected_records"`
	Units    *UnitCheck    `json:"units,omitempty"` // nil: every row is a record
	Columns  []ColumnCheck `json:"columns"`
	// Malformed is nil where every row of a CSV file is sound.
	Malformed *MalformedCheck `json:"malformed,omitempty"`
}

// UnitCheck counts the rows that make up the records.
type UnitCheck struct {
	Column    string `json:"column"` // of ids
	Rows      int    `json:"rows"`
	WithoutID int    `json:"rows_without_id"` // left out
	Rejected  int    `json:"rejected_rows"`   // left out; their units stay
	Dropped   int    `json:"dropped_rows"`    // of units with too many
}

// ColumnCheck counts the cells of one raw column.
type ColumnCheck struct {
	Column       string `json:"column"`
	Missing      int    `json:"missing"`
	Unparseable  int    `json:"unparseable"`         // treated as missing
	NotWhole     int    `json:"not_whole,omitempty"` // among these: fractions in a column of whole numbers
	OutOfBounds  int    `json:"out_of_bounds"`       // clamped, or rejected where declared
	UnknownLevel int    `json:"unknown_level"`
	NotUTF8      int    `json:"not_utf8,omitempty"` // among these: the model file lacks the encoding
	// Varying counts the usable rows with another value than the first one of their
	// group, of a column that is declared constant within groups.
	Varying int `json:"varying_within_group,omitempty"`
	// Lines are the places of the first cells that do not fit or that reject their record:
	// FILE:LINE, or FILE:ROW for a table that is no text.
	Lines []string `json:"first_lines,omitempty"`
}

// add adds another check.
func (c *ColumnCheck) add(o ColumnCheck) {
	c.Missing += o.Missing
	c.Unparseable += o.Unparseable
	c.NotWhole += o.NotWhole
	c.OutOfBounds += o.OutOfBounds
	c.UnknownLevel += o.UnknownLevel
	c.NotUTF8 += o.NotUTF8
}

// MalformedCheck counts malformed rows of a CSV file, which are rejected.
type MalformedCheck struct {
	Rows    int    `json:"rows"`
	Line    int    `json:"first_line"`
	Problem string `json:"problem"` // of the first
}

// add adds the counts of text that starts after this number of line ends.
func (m *MalformedCheck) add(o MalformedCheck, lines int) {
	if m.Rows == 0 {
		m.Line, m.Problem = lines+o.Line, o.Problem
	}
	m.Rows += o.Rows
}

// Fits reports whether no rule changed a cell or left a record out. A missing value that
// is declared as such fits.
func (c *Check) Fits() bool {
	fits := c.Rejected == 0 && c.Malformed == nil && (c.Units == nil || c.Units.WithoutID+c.Units.Rejected+c.Units.Dropped == 0)
	for _, column := range c.Columns {
		fits = fits && column.Unparseable+column.OutOfBounds+column.UnknownLevel+column.NotUTF8 == 0
	}
	return fits
}

// Write writes the check as indented JSON. Fits side by side share a check: it stays as it is.
func (c *Check) Write(w io.Writer) error {
	marked := *c
	marked.Privacy = NotProtected
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(marked)
}

// begin begins a file.
func (e *encoder) begin(path string) { e.files, e.line = append(e.files, filepath.Base(path)), 1 }

// cellPlace is a row of the table's files.
type cellPlace struct{ file, line int }

// mostPlaces bounds the places of a column.
const mostPlaces = 10

// mark notes the place of the current cell of a column; places come in the order of the table.
func (e *encoder) mark(c *column) {
	p := cellPlace{len(e.files) - 1, e.line}
	if n := len(c.places); n < mostPlaces && (n == 0 || c.places[n-1] != p) {
		c.places = append(c.places, p)
	}
}

// addPlaces adds places of other rows, with this number of lines before them.
func (c *column) addPlaces(more []cellPlace, before int) {
	if len(more) == 0 {
		return
	}
	for _, p := range more {
		p.line += before
		c.places = append(c.places, p)
	}
	slices.SortFunc(c.places, func(a, b cellPlace) int { return cmp.Or(a.file-b.file, a.line-b.line) })
	c.places = c.places[:min(len(c.places), mostPlaces)]
}
