package parquet_test

import (
	"bytes"
	"slices"
	"testing"

	arrowparquet "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"d3p/internal/parquet"
)

// UUIDs are texts as other programs write them, whatever the encoding of the column.
func TestUUIDs(t *testing.T) {
	ids := []arrowparquet.FixedLenByteArray{
		[]byte("\x65\x13\x27\x0e\x26\x9e\x0d\x37\xf2\xa7\x4d\xe4\x52\xe6\xb4\x38"),
		[]byte("\x65\x13\x27\x0e\x26\x9e\x0d\x37\xf2\xa7\x4d\xe4\x52\xe6\xb4\x39"),
		[]byte("\x65\x13\x27\x0e\x26\x9e\x0d\x37\xf2\xa7\x4d\xe4\x52\xe6\xb4\x38"),
	}
	want := []string{"6513270e-269e-0d37-f2a7-4de452e6b438", "", "6513270e-269e-0d37-f2a7-4de452e6b439", "6513270e-269e-0d37-f2a7-4de452e6b438"}
	for name, option := range map[string]arrowparquet.WriterProperty{
		"plain": arrowparquet.WithDictionaryDefault(false), "dictionary": arrowparquet.WithDictionaryDefault(true),
	} {
		node, err := schema.NewPrimitiveNodeLogical("id", arrowparquet.Repetitions.Optional, schema.UUIDLogicalType{}, arrowparquet.Types.FixedLenByteArray, 16, -1)
		if err != nil {
			t.Fatal(err)
		}
		root, err := schema.NewGroupNode("schema", arrowparquet.Repetitions.Required, schema.FieldList{node}, -1)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		w := file.NewParquetWriter(&text, root, file.WithWriterProps(arrowparquet.NewWriterProperties(option)))
		column, err := w.AppendRowGroup().NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := column.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(ids, []int16{1, 0, 1, 1}, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := parquet.Open(bytes.NewReader(text.Bytes()), int64(text.Len()))
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Reader(0)
		if err != nil {
			t.Fatalf("%s: a column of UUIDs is not read: %v", name, err)
		}
		c := new(parquet.Cells)
		if err := r.Read(c, 10); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range c.N {
			got = append(got, string(c.Text(i)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		r.Close()
	}
}
