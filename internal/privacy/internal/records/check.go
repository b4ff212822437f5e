package records

import (
	"encoding/json"
	"io"
)

// Check counts what the declared rules did to the table. It is about records,
// so it is private: it may be written under private/ and nowhere else.
type Check struct {
	Privacy  string          `json:"privacy"` // always NOT_PROTECTED
	File     string          `json:"file"`
	Records  int             `json:"records"` // units
	Rejected int             `json:"rejected_records"`
	Units    *UnitCheck      `json:"units,omitempty"` // nil: every row is a record
	Columns  []ColumnCheck   `json:"columns"`
	Problem  *MalformedCheck `json:"malformed,omitempty"`
}

// UnitCheck counts the rows of which the records are made.
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
	Unparseable  int    `json:"unparseable"`   // treated as missing
	OutOfBounds  int    `json:"out_of_bounds"` // clamped, or rejected where declared
	UnknownLevel int    `json:"unknown_level"`
	NotUTF8      int    `json:"not_utf8,omitempty"` // among these: the model file lacks the encoding
}

// add adds what was counted elsewhere.
func (c *ColumnCheck) add(o ColumnCheck) {
	c.Missing += o.Missing
	c.Unparseable += o.Unparseable
	c.OutOfBounds += o.OutOfBounds
	c.UnknownLevel += o.UnknownLevel
	c.NotUTF8 += o.NotUTF8
}

// MalformedCheck says where reading stopped.
type MalformedCheck struct {
	Line    int    `json:"line"`
	Problem string `json:"problem"`
}

// Write writes the check as indented JSON.
func (c *Check) Write(w io.Writer) error {
	c.Privacy = "NOT_PROTECTED"
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(c)
}
