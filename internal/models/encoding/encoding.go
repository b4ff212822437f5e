// Package encoding defines how the rows of a data file become the numbers that a model
// reads, and which rows make up a record. It is public: everything in it is declared.
package encoding

import (
	"bytes"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"d3p/internal/models/data"
)

// Encoding turns one row of the file (named text or numeric cells) into K numbers, and
// groups rows into records, the data of one unit. It is public: everything in it is
// declared in the model file, nothing is learnt from records. The records package executes
// it.
type Encoding struct {
	// Fields are executed in order; two fields may read the same column.
	Fields []Field `json:"fields"`
	// K is the number of encoded columns of a row; every Out index is below it.
	K int `json:"k"`
	// UnitID is the raw column that names the unit of a row; empty if every row is a unit.
	// The rule Keep keeps at most RowsPerUnit usable rows of a unit; Width describes their
	// layout.
	UnitID      string   `json:"unit_id,omitempty"`
	RowsPerUnit int      `json:"rows_per_unit,omitempty"`
	Keep        KeepRule `json:"keep,omitempty"`
	// Header names the columns of a file without names, in order: the declared ones, those
	// of tensors last, unless the model file has a header for them.
	Header []string `json:"header,omitempty"`
	// Lists are the numbers of tokens that a record of an array has for columns with lists.
	Lists map[string]int `json:"lists,omitempty"`
	// Beside are columns that files must have, though none of their cells is read.
	Beside []string `json:"-"`
	// Format is the file's format, one of spec.Formats; "": from the end of its name, else
	// CSV.
	Format string `json:"format,omitempty"`
	// Separator separates the fields of a file of text, one of spec.Separators; "": from
	// the header line.
	Separator string `json:"separator,omitempty"`
	// Quotes restricts quotes in a file of text, spec.OneLine or spec.NoQuotes; "": RFC
	// 4180.
	Quotes string `json:"quotes,omitempty"`
	// Headless means that the first line of a file of text is a record: Header has the
	// names.
	Headless bool `json:"headless,omitempty"`
	// Dates is the order of dates in a file of text besides ISO 8601, data.DayFirst or
	// MonthFirst; "": ISO 8601 alone.
	Dates string `json:"dates,omitempty"`
	// Text is the encoding of a file of text, one of spec.Encodings; "": UTF-8. A byte
	// order mark before a header line overrides it.
	Text string `json:"text,omitempty"`
	// MissingTokens are the cells, after trimming spaces, that mean "no value". The empty
	// cell, NaN, an infinity and a cell that does not parse mean it, too. A declared level
	// with the same spelling overrides a token.
	MissingTokens []string `json:"missing_tokens,omitempty"`
	// Within are the columns that are declared constant within a group. Only the data check
	// uses them: it counts the rows that break the declaration.
	Within []Within `json:"within,omitempty"`
	// Decimal is the decimal sign of numbers in a file of text: "." or ","; "" is "."
	// unless something suggests the other.
	Decimal string `json:"decimal,omitempty"`
	// Thousands separates groups of three digits of numbers in a file of text; "": nothing does.
	Thousands string `json:"thousands,omitempty"`
}

// Within means that the raw column Column has one value for all rows with the same level
// of the raw column Group.
type Within struct {
	Column string `json:"column"`
	Group  string `json:"group"`
}

// KeepRule chooses the rows to keep of a unit with too many. It reads nothing but the
// unit's own rows, so other units do not matter.
type KeepRule string

// The rules for units with too many rows.
const (
	KeepRandom KeepRule = "random" // a uniform choice, by secret random numbers
	KeepFirst  KeepRule = "first"  // the first ones in the file
)

// Width is the number of columns of a record. With one row per unit they are the K of that
// row. Otherwise they are RowsPerUnit blocks of K+1: a row, and a column that is 1. Blocks
// that a unit does not fill come last; they have 0 there and repeat the unit's first row,
// whose numbers are harmless.
func (e Encoding) Width() int {
	if e.RowsPerUnit > 1 {
		return e.RowsPerUnit * (e.K + 1)
	}
	return e.K
}

// AppendUnit appends a unit of one row or more, [rows x K], to units, as Width describes it.
func (e Encoding) AppendUnit(units, rows []float64) []float64 {
	if e.RowsPerUnit <= 1 {
		return append(units, rows[:e.K]...)
	}
	for r := range e.RowsPerUnit {
		row, present := rows[:e.K], 0.0
		if first := r * e.K; first < len(rows) {
			row, present = rows[first:first+e.K], 1
		}
		units = append(append(units, row...), present)
	}
	return units
}

// ParseDay reads a date as days from 1970-01-01, in ISO 8601 or in the order of
// Dates; see data.ParseDayIn.
func (e Encoding) ParseDay(cell []byte) (day int, ok bool) { return data.ParseDayIn(e.Dates, cell) }

// Predictors is the encoding of a row without the columns that the model only observes: the
// input of a prediction for any row. Its columns are the first of a row's.
func (e Encoding) Predictors() Encoding {
	p := Encoding{Header: e.Header, Lists: e.Lists, Headless: e.Headless, Text: e.Text, Separator: e.Separator, Quotes: e.Quotes, Dates: e.Dates, MissingTokens: e.MissingTokens, Decimal: e.Decimal, Thousands: e.Thousands}
	for _, f := range e.Fields {
		if f.Role == Response {
			continue
		}
		p.Fields = append(p.Fields, f)
		for _, out := range f.Out {
			p.K = max(p.K, out+1)
		}
	}
	return p
}

// Counted is the encoding of rows for counting: e's columns with numbers only. The level of
// a cell stands beside the numbers; the number of a level is left where the data check
// compares it.
func (e Encoding) Counted() Encoding {
	fields := e.Columns()
	e.Fields, e.K = nil, 0
	for _, f := range fields {
		compared := slices.ContainsFunc(e.Within, func(w Within) bool { return w.Column == f.Column || w.Group == f.Column })
		f.Out = slices.Clone(f.Out)
		for i, out := range f.Out {
			if f.Levels != nil && !compared || out < 0 {
				f.Out[i] = -1
			} else {
				f.Out[i] = e.K
				e.K++
			}
		}
		e.Fields = append(e.Fields, f)
	}
	return e
}

// Texts is the encoding of rows for a purchase of the levels of a column: its texts alone. A row
// without one counts as rejected. A file that lacks another column is refused before the purchase.
func (e Encoding) Texts(column string) Encoding {
	text := Field{Column: column, Type: data.Category, Kind: LevelCode, Levels: []string{}, Open: true, Unknown: UnknownReject, Missing: MissingReject, Out: []int{-1}}
	for _, f := range e.Fields {
		if f.Column == column {
			text.MissingTokens = f.MissingTokens
		} else if !slices.Contains(e.Beside, f.Column) {
			e.Beside = append(e.Beside, f.Column)
		}
	}
	e.Fields, e.K, e.Within = []Field{text}, 0, nil
	return e
}

// Opened is the encoding in which all texts of a column are levels; only for a data check.
func (e Encoding) Opened(column string) Encoding {
	e.Fields = slices.Clone(e.Fields)
	for i := range e.Fields {
		if f := &e.Fields[i]; f.Column == column && f.Levels != nil {
			f.Open = true
		}
	}
	return e
}

// longestLevel is the length in bytes of the longest text that can be bought as a level.
const longestLevel = 100

// BuyableLevel reports whether a text can be bought as a level: printable, not empty or long, and
// nothing that a spreadsheet would compute.
func BuyableLevel(text []byte) bool {
	if len(text) == 0 || len(text) > longestLevel || !utf8.Valid(text) || bytes.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	if bytes.IndexByte([]byte("=+-@"), text[0]) >= 0 {
		_, err := strconv.ParseFloat(string(text), 64)
		return err == nil
	}
	return true
}

// Columns has one field of each column that e reads as a number or level, in order of
// first use.
func (e Encoding) Columns() (list []Field) {
	seen := make(map[string]bool)
	for _, f := range e.Fields {
		if f.Kind != MissingIndicator && f.Kind != Tokens && !seen[f.Column] {
			seen[f.Column] = true
			list = append(list, f)
		}
	}
	return list
}
