package records

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// idReader returns how the ids of an Arrow type are spelled, as in the CSV that
// the same table exports to; nil for a type that names no one. Numbers are
// spelled by their digits, not by way of a float64, which would take two long
// ones for the same.
func idReader(t arrow.DataType) func(a arrow.Array, i int) string {
	switch t.ID() {
	case arrow.STRING, arrow.INT64, arrow.INT32, arrow.INT16, arrow.INT8,
		arrow.UINT64, arrow.UINT32, arrow.UINT16, arrow.UINT8:
		return arrow.Array.ValueStr
	case arrow.BINARY:
		return func(a arrow.Array, i int) string { return string(a.(*array.Binary).Value(i)) }
	}
	return nil
}

// idsOf returns the function that gives the text of the id of row i, nil when
// it has none.
func idsOf(path string, ids arrow.Array) (func(i int) []byte, error) {
	spell := idReader(ids.DataType())
	if spell == nil {
		return nil, damaged(path)
	}
	return func(i int) []byte {
		if ids.IsNull(i) {
			return nil
		}
		return []byte(spell(ids, i))
	}, nil
}
