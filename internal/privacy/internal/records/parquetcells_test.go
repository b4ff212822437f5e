package records

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// No cell of a Parquet file causes an error, because an error would reveal it, or changes how
// another is read: neither text
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
		{number, build(arrow.PrimitiveTypes.Int64, func(b array.Builder) {
			b.(*array.Int64Builder).AppendValues([]int64{math.MaxInt64, math.MinInt64, 1, math.MaxInt64, -1, math.MinInt64}, nil)
		})},
		{number, build(arrow.PrimitiveTypes.Int32, func(b array.Builder) {
			b.(*array.Int32Builder).AppendValues([]int32{math.MaxInt32, math.MinInt32, 1, math.MaxInt32, -1, math.MinInt32}, nil)
		})},
		{number, build(&arrow.Decimal128Type{Precision: 38, Scale: 2}, func(b array.Builder) {
			b.(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.New(math.MaxInt64, math.MaxUint64), decimal128.New(math.MinInt64, 0)}, nil)
		})},
	} {
		for _, precision := range []Precision{Float64, Float32} {
			var alone []string
			for i := range c.cells.Len() {
				alone = append(alone, encoded(readCells(t, c.field, array.NewSlice(c.cells, int64(i), int64(i+1)), precision))...)
			}
			properties := writerProperties
			if id := c.cells.DataType().ID(); id == arrow.INT32 || id == arrow.INT64 {
				properties = append(slices.Clone(properties), []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked)})
			}
			for _, properties := range properties {
				got := encoded(readCells(t, c.field, c.cells, precision, properties...))
				if !slices.Equal(got, alone) {
					t.Errorf("%s: the cells are %q, each alone %q", c.cells.DataType(), got, alone)
				}
			}
		}
	}
}

// writerProperties are ways to store a column.
var writerProperties = [][]parquet.WriterProperty{
	nil,
	{parquet.WithDictionaryDefault(false), parquet.WithCompression(compress.Codecs.Zstd)},
	{parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithDataPageSize(1), parquet.WithBatchSize(1)},
}

// readCells reads a file with one column of these cells.
func readCells(t *testing.T, field encoding.Field, cells arrow.Array, precision Precision, properties ...parquet.WriterProperty) *Rows {
	t.Helper()
	schema := columns(cells.DataType())
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecord(schema, []arrow.Array{cells}, int64(cells.Len()))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rows, _, err := readOne(modelstest.File(t, "data.parquet", buf.String()), one(field), Options{Precision: precision})
	if err != nil {
		t.Fatalf("%s: %v", cells.DataType(), err)
	}
	return rows
}
