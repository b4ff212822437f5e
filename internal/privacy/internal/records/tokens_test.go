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
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/encoding"
)

// texts encodes a column of texts as three tokens of bytes.
func texts(vocabulary []string) encoding.Encoding {
	e := one(encoding.Field{Column: "t", Type: "text", Kind: encoding.Tokens, Vocabulary: vocabulary, Missing: encoding.MissingImpute, Out: []int{0, 1, 2}})
	return e
}

// TestTextsBecomeTokens checks the length limit, padding, and that a text is never
// missing: an empty one and the spelling of a missing value are texts.
func TestTextsBecomeTokens(t *testing.T) {
	rows, check := encode(t, texts(nil), "t,u\nabcdef,1\n,2\nNA,3\n12,4\n\"a,\"\"\n\",5\nx,6\n")
	want := [][]float64{{98, 99, 100}, {0, 0, 0}, {79, 66, 0}, {50, 51, 0}, {98, 45, 35}, {121, 0, 0}}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if check.Rejected != 0 {
		t.Errorf("%d rows rejected", check.Rejected)
	}
	rows, _ = encode(t, texts([]string{"good", "un", "##good"}), "t\nUngood good\nother good\n")
	if want := [][]float64{{3, 4, 2}, {1, 2, 0}}; !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}

// TestTextsInBlocks reads more text than one block, on all processors: every row has
// its own tokens.
func TestTextsInBlocks(t *testing.T) {
	const n = 200_000
	var text strings.Builder
	text.WriteString("t\n")
	for i := range n {
		fmt.Fprintf(&text, "w%d ing\n", i%7)
	}
	rows, _ := encode(t, texts([]string{"w0", "w1", "w2", "w3", "##3", "w"}), text.String())
	if len(rows) != n {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		want := []float64{float64(2 + i%7), 1, 0}
		if i%7 > 3 {
			want[0] = 1
		}
		if !slices.Equal(row, want) {
			t.Fatalf("row %d is %v, want %v", i, row, want)
		}
	}
}

// TestTextsInParquet checks that text and missing text are read, and that numbers are the
// texts that they are beside a text: a program stores texts that are all numbers as these.
func TestTextsInParquet(t *testing.T) {
	path := parquetOf(t, "t", arrow.BinaryTypes.String, `["ab", null, "longer"]`)
	table, _, err := readOne(path, texts(nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, want := unpack(t, table), [][]float64{{98, 99, 0}, {0, 0, 0}, {109, 112, 111}}; !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	for kind, cells := range map[arrow.DataType]string{arrow.PrimitiveTypes.Int64: "[12, null, -3]", arrow.PrimitiveTypes.Float64: "[12, null, -3]", arrow.BinaryTypes.String: `["12", null, "-3"]`} {
		table, _, err := readOne(parquetOf(t, "t", kind, cells), texts(nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rows, want := unpack(t, table), [][]float64{{50, 51, 0}, {0, 0, 0}, {46, 52, 0}}; !slices.EqualFunc(rows, want, slices.Equal) {
			t.Errorf("%v: rows %v, want %v", kind, rows, want)
		}
	}
}

// parquetOf writes a Parquet file of one column, whose cells are JSON.
func parquetOf(t *testing.T, name string, kind arrow.DataType, cells string) string {
	t.Helper()
	column, _, err := array.FromJSON(memory.DefaultAllocator, kind, strings.NewReader(cells))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: kind, Nullable: true}}, nil)
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecord(schema, []arrow.Array{column}, int64(column.Len()))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "t.parquet", out.String())
}
