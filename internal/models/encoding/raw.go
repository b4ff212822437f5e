package encoding

import (
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
)

// Undeclared is the last level of Raw: cells whose rows are rejected because their
// level is not declared.
const Undeclared = "\x00"

// Raw is the encoding of the columns that e reads as the file has them, for tables
// of counts: of column i of Columns, the number before clamping or the index of the
// level, and 1 where it has no value, else 0. No cell makes a row unusable.
func (e Encoding) Raw() Encoding {
	raw := e
	raw.Fields, raw.K, raw.Within = nil, 0, nil
	for _, f := range e.Columns() {
		value := Field{Column: f.Column, Type: f.Type, Kind: Numeric, Origin: f.Origin, Missing: MissingImpute, Out: []int{raw.K}}
		if f.Levels != nil {
			value.Kind, value.Levels, value.Unknown = LevelCode, append(slices.Clone(f.Levels), Undeclared), f.Unknown
			if value.Unknown == UnknownReject {
				value.Unknown = len(f.Levels)
			}
		}
		missing := Field{Column: f.Column, Type: f.Type, Kind: MissingIndicator, Missing: MissingImpute, Out: []int{raw.K + 1}}
		raw.Fields = append(raw.Fields, value, missing)
		raw.K += 2
	}
	return raw
}

// Columns has one field of each column that e reads, in order of first use.
func (e Encoding) Columns() (list []Field) {
	seen := make(map[string]bool)
	for _, f := range e.Fields {
		if f.Kind != MissingIndicator && !seen[f.Column] {
			seen[f.Column] = true
			list = append(list, f)
		}
	}
	return list
}

// Transformed applies a declared transform, "" for none, to a number.
func Transformed(transform string, x float64) float64 {
	c := data.Column{Transform: source.Value[string]{V: transform}}
	return c.Transformed(x)
}
