package models

import (
	"math"

	"d3p/internal/models/data"
)

// Encoding says how one row of the file (named text or numeric cells) becomes K
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
	// Headless says that the first line of a file of text is a record: Header has the
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
	// Decimal is what stands before the decimals of a number in a file of text: "."
	// or ","; "" is "." where nothing suggests otherwise.
	Decimal string `json:"decimal,omitempty"`
}

// KeepRule says which rows of a unit are kept when it has too many. Either
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

// DefaultMissingTokens are used when a model file declares none.
func DefaultMissingTokens() []string { return []string{"NA", "N/A", "NaN", "null", "NULL", "."} }

// ColumnType is the declared type of a raw column.
type ColumnType string

// The declared types of columns.
const (
	Real     ColumnType = "real"
	Integer  ColumnType = "integer"
	Binary   ColumnType = "binary"
	Category ColumnType = "category"
	Ordinal  ColumnType = "ordinal"
	Date     ColumnType = "date"
)

// FieldKind says what a Field writes.
type FieldKind string

// The kinds of fields, with what each writes to Out.
const (
	// Numeric writes (transform(clamp(x, Lower, Upper)) - Center) / Scale to Out[0].
	Numeric FieldKind = "numeric"
	// Quantile is Numeric for values that are probabilities p: it writes Φ⁻¹(p),
	// within ±40, which a standard normal is below with probability p.
	Quantile FieldKind = "quantile"
	// LevelCode writes the index of the level, 0 to len(Levels)-1, to Out[0].
	LevelCode FieldKind = "level_code"
	// OneHot writes 1 to Out[l] for level l and 0 to the others. Out has one
	// entry per level; a negative entry (the reference level) is not written.
	OneHot FieldKind = "one_hot"
	// MissingIndicator writes 1 to Out[0] when the column is missing, else 0.
	MissingIndicator FieldKind = "missing_indicator"
)

// NormalQuantile is Φ⁻¹(p), within ±40: no normal that the tool draws lies
// outside.
func NormalQuantile(p float64) float64 {
	return min(max(math.Sqrt2*math.Erfinv(2*p-1), -40), 40)
}

// MissingRule says what a missing value does.
type MissingRule string

// The rules for missing values.
const (
	// MissingReject makes the whole record invalid: it stays in the table,
	// so that N and q are unchanged, and contributes zero everywhere.
	MissingReject MissingRule = "reject"
	// MissingImpute replaces the value by the declared constant Impute.
	MissingImpute MissingRule = "impute"
)

// Rules for a level that is not declared; an Unknown >= 0 is the index of the
// level to use instead.
const (
	UnknownMissing = -1 // as a missing value
	UnknownReject  = -2 // the whole record is invalid
)

// Role says what a field is for in the model.
type Role string

// The roles of fields.
const (
	Predictor Role = "predictor"
	Response  Role = "response"
	Exposure  Role = "exposure"
)

// Field encodes one raw column into one or more encoded columns.
type Field struct {
	Column string     `json:"column"` // name in the header of the data file
	Type   ColumnType `json:"type"`
	Kind   FieldKind  `json:"kind"`
	Role   Role       `json:"role,omitempty"`

	// Origin is the day, counted from 1970-01-01, that a date counts from: its raw
	// number is the days since.
	Origin int `json:"origin,omitempty"`

	// Lower and Upper are the declared bounds in the raw unit; nil means no bound.
	// A value outside is clamped silently, or, with RejectOutside, makes the
	// record invalid.
	Lower         *float64 `json:"lower,omitempty"`
	Upper         *float64 `json:"upper,omitempty"`
	RejectOutside bool     `json:"reject_outside,omitempty"`

	// Transform is applied after clamping: "", log, log1p, sqrt or logit.
	Transform string `json:"transform,omitempty"`
	// Center and Scale are in the transformed unit; Scale 0 means 1.
	Center float64 `json:"center,omitempty"`
	Scale  float64 `json:"scale,omitempty"`

	Levels  []string `json:"levels,omitempty"` // of LevelCode and OneHot
	Unknown int      `json:"unknown,omitempty"`

	Missing MissingRule `json:"missing"`
	// Impute is the declared constant of MissingImpute: in the raw unit for
	// Numeric, the index of a level for LevelCode and OneHot (OneHot: negative
	// writes zeros).
	Impute float64 `json:"impute,omitempty"`

	Out []int `json:"out"` // encoded columns written
}

// ParseDay reads a date as days from 1970-01-01, in ISO 8601 or in the order of
// Dates; see data.ParseDayIn.
func (e Encoding) ParseDay(cell []byte) (day int, ok bool) { return data.ParseDayIn(e.Dates, cell) }
