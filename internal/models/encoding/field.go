package encoding

import (
	"cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/special"
)

// FieldKind is the kind of output of a Field.
type FieldKind string

// The kinds of fields and their outputs in Out.
const (
	// Numeric writes (transform(clamp(x, Lower, Upper)) - Center) / Scale to Out[0].
	Numeric FieldKind = "numeric"
	// Quantile is Numeric for values that are probabilities p: it writes Φ⁻¹(p),
	// within ±40, which a standard normal is below with probability p.
	Quantile FieldKind = "quantile"
	// LevelCode writes the index of the level, 0 to len(Levels)-1, to Out[0], unless that is
	// negative.
	LevelCode FieldKind = "level_code"
	// OneHot writes 1 to Out[l] for level l and 0 to the others. Out has one
	// entry per level; a negative entry (the reference level) is not written.
	OneHot FieldKind = "one_hot"
	// Tokens writes the tokens of a text or list to Out, from its beginning. Places beyond
	// the end are data.Padding. A cell without value has no tokens.
	Tokens FieldKind = "tokens"
	// MissingIndicator writes 1 to Out[0] when the column is missing, else 0.
	MissingIndicator FieldKind = "missing_indicator"
)

// NormalQuantile is Φ⁻¹(p), within ±40: no normal that the tool draws lies
// outside.
func NormalQuantile(p float64) float64 {
	return min(max(special.NormalQuantile(p), -40), 40)
}

// MissingRule is the rule for a missing value.
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

// Role is the use of a field in the model.
type Role string

// The roles of fields.
const (
	Predictor Role = "predictor"
	Response  Role = "response"
	Exposure  Role = "exposure"
)

// Field encodes one raw column into one or more encoded columns.
type Field struct {
	Column string    `json:"column"` // name in the header of the data file
	Type   string    `json:"type"`   // one of data.ColumnTypes
	Kind   FieldKind `json:"kind"`
	Role   Role      `json:"role,omitempty"`

	// Origin is the day, counted from 1970-01-01, that a date counts from: its raw
	// number is the days since.
	Origin int `json:"origin,omitempty"`

	// Lower and Upper are the declared bounds in the raw unit; nil means no bound.
	// A value outside is clamped silently, or, with RejectOutside, makes the
	// record invalid.
	Lower         *float64 `json:"lower,omitempty"`
	Upper         *float64 `json:"upper,omitempty"`
	RejectOutside bool     `json:"reject_outside,omitempty"`

	// Symbol is text before or after numbers in the file, such as kg.
	Symbol string `json:"symbol,omitempty"`
	// Transform is applied after clamping: "", log, log1p, sqrt or logit.
	Transform string `json:"transform,omitempty"`
	// Center and Scale are in the transformed unit; Scale 0 means 1.
	Center float64 `json:"center,omitempty"`
	Scale  float64 `json:"scale,omitempty"` // see Unit

	Levels []string `json:"levels,omitempty"` // of LevelCode and OneHot
	// Spelled are other texts in the file that mean the level of this code.
	Spelled map[string]int `json:"spelled,omitempty"`
	// Open means that every text which BuyableLevel allows is a level, in order of first use. Only
	// the purchase of levels reads a column so.
	Open bool `json:"-"`
	// Vocabulary are the known tokens of Tokens; nil: every byte is one.
	Vocabulary []string `json:"vocabulary,omitempty"`
	// Words: cells are lists of tokens of the vocabulary, which are looked up as they are.
	Words bool `json:"words,omitempty"`
	// Listed is the number of tokens that there are where cells are lists of numbers; 0: cells
	// are texts or lists of words.
	Listed  int `json:"listed,omitempty"`
	Unknown int `json:"unknown,omitempty"`

	Missing MissingRule `json:"missing"`
	// MissingTokens are cells that mean "no value" in this column, besides those of the table.
	MissingTokens []string `json:"missing_tokens,omitempty"`
	// Impute is the declared constant of MissingImpute: in the raw unit for
	// Numeric, the index of a level for LevelCode and OneHot (OneHot: negative
	// writes zeros).
	Impute float64 `json:"impute,omitempty"`

	Out []int `json:"out"` // encoded columns written
}

// Unit is the length, in the transformed unit, that Numeric writes as 1: Scale, or 1 if that is 0.
func (f *Field) Unit() float64 { return cmp.Or(f.Scale, 1) }

// TokenLevels is the number of tokens that a field of Tokens may write.
func (f *Field) TokenLevels() int {
	switch {
	case f.Listed > 0:
		return f.Listed
	case f.Vocabulary == nil:
		return 1 + 256
	}
	return data.Unknown + 1 + len(f.Vocabulary)
}
