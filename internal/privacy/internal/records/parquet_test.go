package records

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// parquetText makes a file of one column per JSON array in columns.
func parquetText(t testing.TB, schema *arrow.Schema, columns ...string) string {
	t.Helper()
	var fields []arrow.Array
	for i, text := range columns {
		a, _, err := array.FromJSON(memory.DefaultAllocator, schema.Field(i).Type, strings.NewReader(text), array.WithUseNumber())
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, a)
	}
	batch := array.NewRecord(schema, fields, int64(fields[0].Len()))
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf,
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(max(2, batch.NumRows()/200))),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func columns(types ...arrow.DataType) *arrow.Schema {
	var fields []arrow.Field
	for i, t := range types {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// Every Arrow type gives what the same table gives as CSV, in either precision.
func TestParquetAgreesWithCSV(t *testing.T) {
	numeric := encoding.Field{Column: "a", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(-100), Upper: ptr(100),
		Center: 1, Scale: 2, Missing: encoding.MissingImpute, Impute: 50, Out: []int{0}}
	levels := encoding.Field{Column: "a", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"0", "1", "7"},
		Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}}
	text := levels
	text.Levels = []string{"no", "yes"}
	truth := levels
	truth.Levels = []string{"false", "true"}
	for _, test := range []struct {
		name  string
		kind  arrow.DataType
		field encoding.Field
		json  string
		csv   string
	}{
		{"float64", arrow.PrimitiveTypes.Float64, numeric, `[1.5, null, -1000, 0.1, 3]`, "1.5\nNA\n-1000\n0.1\n3\n"},
		{"float32", arrow.PrimitiveTypes.Float32, numeric, `[1.5, null, -1000, 0.25, 3]`, "1.5\nNA\n-1000\n0.25\n3\n"},
		{"int64", arrow.PrimitiveTypes.Int64, numeric, `[1, null, -1000, 0, 3]`, "1\nNA\n-1000\n0\n3\n"},
		{"int8", arrow.PrimitiveTypes.Int8, numeric, `[1, null, -100, 0, 3]`, "1\nNA\n-100\n0\n3\n"},
		{"uint16", arrow.PrimitiveTypes.Uint16, numeric, `[1, null, 1000, 0, 3]`, "1\nNA\n1000\n0\n3\n"},
		{"integers as levels", arrow.PrimitiveTypes.Int32, levels, `[1, null, 7, 0, 3]`, "1\nNA\n7\n0\n3\n"},
		{"numbers as levels", arrow.PrimitiveTypes.Float64, levels, `[1, null, 7, 0, 0.5]`, "1\nNA\n7\n0\n0.5\n"},
		{"truth values as levels", arrow.FixedWidthTypes.Boolean, truth, `[true, null, false, true]`, "true\nNA\nfalse\ntrue\n"},
		{"truth values as 0 and 1", arrow.FixedWidthTypes.Boolean, levels, `[true, null, false, true]`, "1\nNA\n0\n1\n"},
		{"truth values as numbers", arrow.FixedWidthTypes.Boolean, numeric, `[true, null, false, true]`, "1\nNA\n0\n1\n"},
		{"nothing", arrow.Null, numeric, `[null, null]`, "NA\nNA\n"},
		{"nothing where levels are declared", arrow.Null, text, `[null, null]`, "NA\nNA\n"},
		{"long text", arrow.BinaryTypes.LargeString, text, `["yes", null, "no"]`, "yes\nNA\nno\n"},
		{"decimals", &arrow.Decimal128Type{Precision: 10, Scale: 2}, numeric, `["1.50", null, "-1000.00", "3.00"]`, "1.5\nNA\n-1000\n3\n"},
		{"long decimals", &arrow.Decimal256Type{Precision: 60, Scale: 2}, numeric, `["1.50", null, "-1000.00", "3.00"]`, "1.5\nNA\n-1000\n3\n"},
		{"text", arrow.BinaryTypes.String, text, `["yes", null, "no", "maybe", " no "]`, "yes\nNA\nno\nmaybe\n no \n"},
		{"text where a number is declared", arrow.BinaryTypes.String, numeric, `["1.5", null, "-1000", "x", " 3 ", "1e400", "NA"]`, "1.5\nNA\n-1000\nx\n 3 \n1e400\nNA\n"},
		{"uint64", arrow.PrimitiveTypes.Uint64, numeric, `[1, null, 18446744073709551615, 0, 3]`, "1\nNA\n18446744073709551615\n0\n3\n"},
		{"text of numbers", arrow.BinaryTypes.String, levels, `["1", "1.0", "NA", "7"]`, "1\n1.0\nNA\n7\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, precision := range []Precision{Float64, Float32} {
				e, opt := one(test.field), Options{Precision: precision}
				rows, check, err := readOne(modelstest.File(t, "data.parquet", parquetText(t, columns(test.kind), test.json)), e, opt)
				if err != nil {
					t.Fatal(err)
				}
				want, wantCheck, err := readOne(modelstest.File(t, "data.csv", "a\n"+test.csv), e, opt)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(unpack(t, want), unpack(t, rows)); d != "" || rows.Precision() != precision {
					t.Errorf("precision %d: rows (-CSV +Parquet):\n%s", precision, d)
				}
				if d := cmp.Diff(counts(wantCheck), counts(check)); d != "" {
					t.Errorf("check (-CSV +Parquet):\n%s", d)
				}
			}
		})
	}
}

// Only the columns in use are read, in the order of the encoding.
func TestParquetColumns(t *testing.T) {
	schema := columns(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64)
	text := parquetText(t, schema, `[1,2,3]`, `["x","y","z"]`, `[0.5,0.25,0.125]`)
	e := encoding.Encoding{K: 2, Fields: []encoding.Field{
		{Column: "c", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}},
		{Column: "a", Type: data.Integer, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{1}},
	}}
	rows, _, err := readOne(modelstest.File(t, "data.parquet", text), e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]float64{{0.5, 1}, {0.25, 2}, {0.125, 3}}, unpack(t, rows)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestParquetErrors(t *testing.T) {
	number := encoding.Field{Column: "a", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}}
	level := encoding.Field{Column: "a", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"x"}, Missing: encoding.MissingReject, Out: []int{0}}
	elsewhere := number
	elsewhere.Column = "A"
	text := parquetText(t, columns(arrow.BinaryTypes.String), `["canary3141592653", "1"]`)
	for _, test := range []struct {
		name, text string
		field      encoding.Field
		want       string
	}{
		{"a date", parquetText(t, columns(arrow.FixedWidthTypes.Date32), `["2026-01-02"]`), level, "column a: has type date in the file (the model file declares levels"},
		{"a date where a number is declared", parquetText(t, columns(arrow.FixedWidthTypes.Date32), `["2026-01-02"]`), number, "column a: has type date in the file (the model file declares a number)"},
		{"a time of day", parquetText(t, columns(arrow.FixedWidthTypes.Time32ms), `["12:34:56"]`), number, "column a: has type time of day"},
		{"a list", parquetText(t, columns(arrow.ListOf(arrow.PrimitiveTypes.Int64)), `[[3141592653]]`), number, "column a: has type list of integer in the file (a tensor with tokens: 30000"},
		{"a struct", parquetText(t, columns(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64})), `[{"a": 3141592653}]`), number, "column a: has type nested in the file (write each of its fields as a column of its own)"},
		{"truth values for other levels", parquetText(t, columns(arrow.FixedWidthTypes.Boolean), `[true]`), level, "column a: has type bool in the file, and no declared level fits (declare levels: [false, true])"},
		{"numbers for other levels", parquetText(t, columns(arrow.PrimitiveTypes.Int64), `[3141592653]`), level, "column a: has type integer in the file, and no declared level fits (declare the numbers"},
		{"bytes of one length", parquetText(t, columns(&arrow.FixedSizeBinaryType{ByteWidth: 3}), `["MzE0"]`), level, "column a: has type bytes of fixed length"},
		{"unknown column", text, elsewhere, "column A: not in the header of the file (column 1 there has this name in other case: write that as `header:` of the column)"},
		{"only the magic", "PAR1", number, "is no Parquet file that can be decoded"},
		{"cut short", text[:len(text)/2], number, "is no Parquet file that can be decoded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := readOne(modelstest.File(t, "data.parquet", test.text), one(test.field), Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "3141592653") {
				t.Errorf("error %q quotes a cell", err)
			}
		})
	}
}

// Levels that were bought and not found are no mistake of the model file: whole numbers are read.
func TestParquetOfLevelsNotFound(t *testing.T) {
	e := one(encoding.Field{Column: "a", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{data.Placeholder + "1", "other"}, Unknown: 1, Missing: encoding.MissingReject, Out: []int{0}})
	for kind, cell := range map[arrow.DataType]string{arrow.PrimitiveTypes.Int64: "7", arrow.FixedWidthTypes.Boolean: "true"} {
		rows, _, err := readOne(modelstest.File(t, "data.parquet", parquetText(t, columns(kind), "["+cell+"]")), e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([][]float64{{1}}, unpack(t, rows)); d != "" {
			t.Errorf("%s (-want +got):\n%s", cell, d)
		}
	}
}

// A damaged file is an error that quotes nothing, or is read, but never a panic.
func TestParquetDamaged(t *testing.T) {
	level := encoding.Field{Column: "a", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"canary3141592653"},
		Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}}
	text := parquetText(t, columns(arrow.BinaryTypes.String), `["canary3141592653", "canary3141592653", "canary3141592653"]`)
	path := modelstest.File(t, "data.parquet", text)
	rng := rand.New(rand.NewPCG(1, 1))
	failed := 0
	for range 300 {
		damaged := []byte(text)
		for range 1 + rng.IntN(3) {
			damaged[4+rng.IntN(len(damaged)-4)] = byte(rng.Uint32())
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readOne(path, one(level), Options{MaxMemory: 1 << 20}); err != nil {
			failed++
			if strings.Contains(err.Error(), "3141592653") {
				t.Fatalf("error %q quotes a cell", err)
			}
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}
