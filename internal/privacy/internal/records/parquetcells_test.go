package records

import (
	"bytes"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// No cell of a Parquet file causes an error, because an error would reveal it: neither text
// that is not UTF-8, nor times at the ends of their range, nor numbers that no float64
// equals.
func TestParquetCellsAreNoErrors(t *testing.T) {
	number := encoding.Field{Column: "a", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}}
	date := number
	date.Type = data.Date
	level := encoding.Field{Column: "a", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"x"}, Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}}
	build := func(kind arrow.DataType, fill func(array.Builder)) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, kind)
		b.AppendNull()
		fill(b)
		return b.NewArray()
	}
	for _, c := range []struct {
		field encoding.Field
		cells arrow.Array
	}{
		{level, build(arrow.BinaryTypes.String, func(b array.Builder) {
			b.(*array.StringBuilder).AppendValues([]string{"\xff\xfe", "\x00", "", "x"}, nil)
		})},
		{level, build(arrow.BinaryTypes.Binary, func(b array.Builder) {
			b.(*array.BinaryBuilder).AppendValues([][]byte{{0xff}, {}, []byte("x")}, nil)
		})},
		{date, build(&arrow.TimestampType{Unit: arrow.Nanosecond}, func(b array.Builder) {
			b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{math.MaxInt64, math.MinInt64, 0}, nil)
		})},
		{date, build(&arrow.TimestampType{Unit: arrow.Millisecond}, func(b array.Builder) {
			b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{math.MaxInt64, math.MinInt64}, nil)
		})},
		{date, build(arrow.PrimitiveTypes.Date32, func(b array.Builder) {
			b.(*array.Date32Builder).AppendValues([]arrow.Date32{math.MaxInt32, math.MinInt32}, nil)
		})},
		{number, build(arrow.PrimitiveTypes.Float64, func(b array.Builder) {
			b.(*array.Float64Builder).AppendValues([]float64{math.NaN(), math.Inf(1), math.MaxFloat64, 5e-324}, nil)
		})},
		{number, build(arrow.PrimitiveTypes.Uint64, func(b array.Builder) {
			b.(*array.Uint64Builder).AppendValues([]uint64{math.MaxUint64, 1 << 53}, nil)
		})},
		{number, build(&arrow.Decimal128Type{Precision: 38, Scale: 2}, func(b array.Builder) {
			b.(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.New(math.MaxInt64, math.MaxUint64), decimal128.New(math.MinInt64, 0)}, nil)
		})},
	} {
		schema := columns(c.cells.DataType())
		var buf bytes.Buffer
		w, err := pqarrow.NewFileWriter(schema, &buf, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(array.NewRecord(schema, []arrow.Array{c.cells}, int64(c.cells.Len()))); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, precision := range []Precision{Float64, Float32} {
			rows, _, err := readOne(modelstest.File(t, "data.parquet", buf.String()), one(c.field), Options{Precision: precision})
			if err != nil || rows.N != c.cells.Len() {
				t.Errorf("%s: %v", c.cells.DataType(), err)
			}
		}
	}
}
