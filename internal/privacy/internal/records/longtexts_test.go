package records

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// TestLongTextsInParquet: where long texts make batches shorter, every row keeps its cells
// of all columns, of other passes too, and shares are still the table.
func TestLongTextsInParquet(t *testing.T) {
	const n = 3000
	long := strings.Repeat("z", 400<<10)
	fields := []arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}}
	e := encoding.Encoding{Fields: []encoding.Field{{Column: "t", Type: "text", Kind: encoding.Tokens, Missing: encoding.MissingImpute, Out: []int{0}}}}
	for k := range columnsAtATime { // the last is read in a pass of its own
		name := fmt.Sprint("x", k)
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
		e.Fields = append(e.Fields, encoding.Field{Column: name, Type: data.Real, Kind: encoding.Numeric, Out: []int{1 + k}})
	}
	e.K = len(e.Fields)
	schema := arrow.NewSchema(fields, nil)
	rows := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range n {
		for k := range columnsAtATime {
			rows.Field(1 + k).(*array.Float64Builder).Append(float64(i))
		}
		switch texts := rows.Field(0).(*array.StringBuilder); {
		case i%7 == 0:
			texts.AppendNull()
		case i >= 1000 && i < 1100:
			texts.Append(string(rune('A'+i%20)) + long)
		default:
			texts.Append(string(rune('a' + i%20)))
		}
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryPageSizeLimit(64<<20), parquet.WithStats(false)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rows.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := modelstest.File(t, "long.parquet", out.String())
	var want []string
	for i := range n {
		record := slices.Repeat([]float64{float64(i)}, e.K)
		switch {
		case i%7 == 0:
			record[0] = 0
		case i >= 1000 && i < 1100:
			record[0] = float64(1 + 'A' + i%20)
		default:
			record[0] = float64(1 + 'a' + i%20)
		}
		want = append(want, fmt.Sprint(true, record))
	}
	for _, of := range []int{1, 3} {
		got := recordsOf(shares(t, of, []string{path}, e)...)
		if sorted := slices.Sorted(slices.Values(want)); !slices.Equal(got, sorted) {
			t.Errorf("%d shares: %d rows, want %d, or others", of, len(got), n)
		}
	}
}
