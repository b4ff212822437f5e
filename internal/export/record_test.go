package export

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// tableOf is a record with n rows and every type of column that may be written:
// with nulls, without, and nullable without nulls.
func tableOf(n int) arrow.Record {
	list := arrow.ListOf(arrow.PrimitiveTypes.Float64)
	var fields []arrow.Field
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, arrow.BinaryTypes.String} {
		for _, name := range []string{"some", "all", "required"} {
			fields = append(fields, arrow.Field{Name: name + " " + kind.Name(), Type: kind, Nullable: name != "required",
				Metadata: arrow.MetadataFrom(map[string]string{"unit": "µm"})})
		}
	}
	fields = append(fields, arrow.Field{Name: "w", Type: list, Nullable: true})
	metadata := arrow.MetadataFrom(map[string]string{"d3p.model": "m"})
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, &metadata))
	defer b.Release()
	for j := range fields {
		for i := range n {
			if j%3 == 0 && i%5 == 1 && fields[j].Type != list {
				b.Field(j).AppendNull()
				continue
			}
			switch b := b.Field(j).(type) {
			case *array.Int32Builder:
				b.Append(int32(i))
			case *array.Int64Builder:
				b.Append(int64(i) << 40)
			case *array.Float64Builder:
				b.Append(math.Sqrt(float64(i)))
			case *array.Date32Builder:
				b.Append(arrow.Date32(i % 1000))
			case *array.StringBuilder:
				b.Append(strconv.Itoa(i % 7))
			case *array.ListBuilder:
				b.Append(true)
				for k := range 3 {
					b.ValueBuilder().(*array.Float64Builder).Append(float64(i + k))
				}
			}
		}
	}
	return b.NewRecord()
}

// A file is, byte for byte, what arrow's own writer makes of the record: of no
// rows, of one row group, and of more.
func TestWriteRecordIsArrows(t *testing.T) {
	for _, n := range []int{0, 1, 1000, rowGroup + 77} {
		record := tableOf(n)
		defer record.Release()
		for _, dictionaries := range []bool{false, true} {
			var got, want bytes.Buffer
			if err := WriteRecord(&got, record, dictionaries); err != nil {
				t.Fatal(err)
			}
			out, err := pqarrow.NewFileWriter(record.Schema(), notClosed{&want},
				parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(rowGroup),
					parquet.WithDictionaryDefault(dictionaries), parquet.WithCreatedBy("d3p")),
				pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Write(record); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%d rows, dictionaries %v: %d bytes, want arrow's %d", n, dictionaries, got.Len(), want.Len())
			}
		}
	}
}

// A type that is not written is an error that names the column.
func TestWriteRecordRefuses(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "flag", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	record := b.NewRecord()
	defer record.Release()
	if err := WriteRecord(&bytes.Buffer{}, record, false); err == nil || err.Error() != "column flag is bool, which d3p does not write" {
		t.Errorf("error %v", err)
	}
}
