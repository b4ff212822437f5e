package records

import (
	"errors"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// An opener makes the function that feeds cell i of an array to the encoder.
type opener func(arrow.Array) func(e *encoder, c *column, i int)

// cellReader returns the opener for an Arrow type, or an error where the type
// does not fit the declaration.
func cellReader(t arrow.DataType, want *column) (opener, error) {
	if t.ID() == arrow.NULL { // a column of missing values alone, as pandas writes it
		return func(arrow.Array) func(*encoder, *column, int) {
			return func(e *encoder, c *column, _ int) { e.absent(c) }
		}, nil
	}
	if want.date {
		return dayReader(t)
	}
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
	case arrow.DECIMAL256:
		scale := t.(*arrow.Decimal256Type).Scale
		return numbers(func(a *array.Decimal256, i int) float64 { return a.Value(i).ToFloat64(scale) }), nil
	case arrow.BOOL:
		return func(a arrow.Array) func(*encoder, *column, int) {
			typed := a.(*array.Boolean)
			return func(e *encoder, c *column, i int) { e.truth(c, typed.Value(i)) }
		}, nil
	}
	if want.numeric {
		return nil, errType
	}
	return textReader(t)
}

// textReader returns the opener for an Arrow type of text.
func textReader(t arrow.DataType) (opener, error) {
	switch t.ID() {
	case arrow.STRING:
		return texts(func(a *array.String, i int) string { return a.Value(i) }), nil
	case arrow.BINARY:
		return texts(func(a *array.Binary, i int) string { return string(a.Value(i)) }), nil
	}
	return nil, errType
}

// dayReader returns the opener for dates: days, times, or text. The day of a
// time is that of its clock, in UTC.
func dayReader(t arrow.DataType) (opener, error) {
	switch t.ID() {
	case arrow.DATE32:
		return days(func(a *array.Date32, i int) int { return int(a.Value(i)) }), nil
	case arrow.DATE64:
		const perDay = 86_400_000
		return days(func(a *array.Date64, i int) int { return floorDiv(int64(a.Value(i)), perDay) }), nil
	case arrow.TIMESTAMP:
		perDay := int64(24 * time.Hour / t.(*arrow.TimestampType).Unit.Multiplier())
		return days(func(a *array.Timestamp, i int) int { return floorDiv(int64(a.Value(i)), perDay) }), nil
	}
	return textReader(t)
}

// floorDiv is the largest whole number not above a/b, b > 0.
func floorDiv(a, b int64) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return int(q)
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

func days[A arrow.Array](value func(A, int) int) opener {
	return func(a arrow.Array) func(*encoder, *column, int) {
		typed := a.(A)
		return func(e *encoder, c *column, i int) { e.day(c, value(typed, i)) }
	}
}
