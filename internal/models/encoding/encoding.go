// Package encoding defines how the rows of a data file become the numbers that a model
// reads, and which rows make up a record. It is public: everything in it is declared.
package encoding

import (
	"slices"

	"d3p/internal/models/data"
)

// Encoding states how one row of the file (named text or numeric cells) becomes K
// numbers, and which rows make up a record, the data of one unit. It is public
// data: everything in it is declared in the model file, nothing is learnt from
// records. The records package executes it.
type Encoding struct {
	// Fields are executed in order; two fields may read the same column.
	Fields []Field `json:"fields"`
	// K is the number of encoded columns of a row; every Out index is below it.
	K int `json:"k"`
	// UnitID is the raw column that names the unit of a row; empty when every
	// row is a unit of its own. Of a unit at most RowsPerUnit usable rows are
	// kept, by the rule Keep; Width says how they are laid out.
	UnitID      string   `json:"unit_id,omitempty"`
	RowsPerUnit int      `json:"rows_per_unit,omitempty"`
	Keep        KeepRule `json:"keep,omitempty"`
	// Header names the columns of a file without names, in order: the declared ones,
	// those of tensors last, unless the model file has a header for them.
	Header []string `json:"header,omitempty"`
	// Format is what the file is, one of spec.Formats; "" is what its name ends in, or
	// CSV.
	Format string `json:"format,omitempty"`
	// Separator stands between the fields of a file of text, one of spec.Separators;
	// "" is what the header line has.
	Separator string `json:"separator,omitempty"`
	// Quotes is what quotes do in a file of text, spec.OneLine or spec.NoQuotes; "" is
	// what RFC 4180 says.
	Quotes string `json:"quotes,omitempty"`
	// Headless means that the first line of a file of text is a record: Header has the
	// names.
	Headless bool `json:"headless,omitempty"`
	// Dates is the order in which a file of text writes dates, data.DayFirst or
	// MonthFirst, besides ISO 8601; "" is that alone.
	Dates string `json:"dates,omitempty"`
	// Text is how a file of text is encoded, one of spec.Encodings; "" is UTF-8. A byte
	// order mark before a header line wins over it.
	Text string `json:"text,omitempty"`
	// MissingTokens are the cells, after trimming spaces, that say "no value"
	// (as do the empty cell, NaN, an infinity and a cell that does not parse).
	// A declared level with the same spelling wins over a token.
	MissingTokens []string `json:"missing_tokens,omitempty"`
	// Within are the columns that are declared to be constant within a group. The data
	// check counts the rows that break it; nothing else depends on it.
	Within []Within `json:"within,omitempty"`
	// Decimal is what stands before the decimals of a number in a file of text: "."
	// or ","; "" is "." where nothing suggests otherwise.
	Decimal string `json:"decimal,omitempty"`
}

// Within means that the raw column Column has one value for all rows with the same level
// of the raw column Group.
type Within struct {
	Column string `json:"column"`
	Group  string `json:"group"`
}

// KeepRule states which rows of a unit are kept when it has too many. Either
// looks at nothing but the unit's own rows, so other units do not matter.
type KeepRule string

// The rules for units with too many rows.
const (
	KeepRandom KeepRule = "random" // a uniform choice, by secret random numbers
	KeepFirst  KeepRule = "first"  // those that stand first in the file
)

// Width is the number of columns of a record. With one row per unit they are
// the K of that row. Otherwise they are RowsPerUnit blocks of K+1: a row, and a
// column that is 1. The blocks that a unit does not fill come last, have 0
// there, and repeat its first row, whose numbers are as harmless as any.
func (e Encoding) Width() int {
	if e.RowsPerUnit > 1 {
		return e.RowsPerUnit * (e.K + 1)
	}
	return e.K
}

// ParseDay reads a date as days from 1970-01-01, in ISO 8601 or in the order of
// Dates; see data.ParseDayIn.
func (e Encoding) ParseDay(cell []byte) (day int, ok bool) { return data.ParseDayIn(e.Dates, cell) }

// Predictors is the encoding of a row without what is only observed: what a
// prediction needs to know of it, whosever it is. Its columns are the first of
// a row's.
func (e Encoding) Predictors() Encoding {
	p := Encoding{Header: e.Header, Headless: e.Headless, Text: e.Text, Separator: e.Separator, Quotes: e.Quotes, Dates: e.Dates, MissingTokens: e.MissingTokens, Decimal: e.Decimal}
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

// Counted is the encoding of rows that are only counted: of the columns that e reads their
// numbers alone. Which level a cell has stands beside the numbers; the number of a level is
// left where the data check compares it.
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
