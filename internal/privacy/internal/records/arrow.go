package records

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// An opener makes the function that feeds cell i of an array to the encoder.
type opener func(arrow.Array) func(e *encoder, c *column, i int)

// cellReader returns the opener for an Arrow type, or an error where the type
// does not fit the declaration.
func cellReader(t arrow.DataType, numeric bool) (opener, error) {
	switch t.ID() {
	case arrow.FLOAT64:
		return numbers(func(a *array.Float64, i int) float64 { return a.Value(i) }), nil
	case arrow.FLOAT32:
		return numbers(func(a *array.Float32, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.INT64:
		return numbers(func(a *array.Int64, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.INT32:
		return numbers(func(a *array.Int32, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.INT16:
		return numbers(func(a *array.Int16, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.INT8:
		return numbers(func(a *array.Int8, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.UINT64:
		return numbers(func(a *array.Uint64, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.UINT32:
		return numbers(func(a *array.Uint32, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.UINT16:
		return numbers(func(a *array.Uint16, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.UINT8:
		return numbers(func(a *array.Uint8, i int) float64 { return float64(a.Value(i)) }), nil
	case arrow.DECIMAL128:
		scale := t.(*arrow.Decimal128Type).Scale
		return numbers(func(a *array.Decimal128, i int) float64 { return a.Value(i).ToFloat64(scale) }), nil
	case arrow.BOOL:
		return func(a arrow.Array) func(*encoder, *column, int) {
			typed := a.(*array.Boolean)
			return func(e *encoder, c *column, i int) { e.truth(c, typed.Value(i)) }
		}, nil
	}
	if numeric {
		return nil, errType
	}
	switch t.ID() {
	case arrow.STRING:
		return texts(func(a *array.String, i int) string { return a.Value(i) }), nil
	case arrow.BINARY:
		return texts(func(a *array.Binary, i int) string { return string(a.Value(i)) }), nil
	}
	return nil, errType
}

// errType says that a type does not fit; matchSchema words the message.
var errType = errors.New("records: type does not fit the declaration")

func numbers[A arrow.Array](value func(A, int) float64) opener {
	return func(a arrow.Array) func(*encoder, *column, int) {
		typed := a.(A)
		return func(e *encoder, c *column, i int) { e.number(c, value(typed, i)) }
	}
}

func texts[A arrow.Array](value func(A, int) string) opener {
	return func(a arrow.Array) func(*encoder, *column, int) {
		typed := a.(A)
		return func(e *encoder, c *column, i int) { e.text(c, []byte(value(typed, i))) }
	}
}
