package records

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
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

// TestListsOfWordsBecomeTokens: a list of words is the text of its words, as pyarrow and
// Hugging Face's datasets write texts that are cut already. Lists that are all empty have no
// type of their own.
func TestListsOfWordsBecomeTokens(t *testing.T) {
	list := func(kind arrow.DataType, cells string) string {
		return parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.ListOf(kind), Nullable: true}}, nil), cells)
	}
	for _, c := range []struct {
		cells   string
		kind    arrow.DataType
		want    [][]float64
		missing int
	}{
		{`[["Good", "un"], ["un good", null, "ungood", "good"], [], null, [null]]`, arrow.BinaryTypes.String, [][]float64{{2, 3, 0}, {3, 2, 3}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
		{`[[], null, [null]]`, arrow.Null, [][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
	} {
		rows, check := encode(t, texts([]string{"good", "un", "##good"}), list(c.kind, c.cells))
		if !slices.EqualFunc(rows, c.want, slices.Equal) || check.Rejected != 0 || check.Columns[0].Missing != c.missing {
			t.Errorf("%s: rows %v, want %v; %d rejected, %d missing", c.cells, rows, c.want, check.Rejected, check.Columns[0].Missing)
		}
	}
}

// wordLists encodes a column of lists of words as three tokens.
func wordLists(vocabulary ...string) encoding.Encoding {
	e := texts(vocabulary)
	e.Fields[0].Words = true
	return e
}

// TestListsOfWordsAsTheyAre: words of lists under `tokens:` are neither cut nor in lower
// case, in Parquet, and in CSV as programs write lists there.
func TestListsOfWordsAsTheyAre(t *testing.T) {
	e := wordLists("[CLS]", "Good", "un", "##good")
	want := [][]float64{{2, 3, 0}, {4, 5, 1}, {0, 0, 0}, {0, 0, 0}, {2, 1, 1}}
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}}, nil)
	for name, file := range map[string]string{
		"lists":  parquetText(t, schema, `[["[CLS]", "Good"], ["un", "##good", "ungood", "Good"], [], null, ["[CLS]", "good", ","]]`),
		"python": "t,u\n\"['[CLS]', 'Good']\",1\n\"['un', '##good', 'ungood', 'Good']\",2\n[],3\n,4\n\"['[CLS]', 'good', ',']\",5\n",
		"json":   "t\tu\n\"[\"\"[CLS]\"\", \"\"Good\"\"]\"\t1\nun ##good ungood Good\t2\n[]\t3\n\t4\n[CLS] good ,\t5\n",
	} {
		rows, check := encode(t, e, file)
		if !slices.EqualFunc(rows, want, slices.Equal) || check.Rejected != 0 {
			t.Errorf("%s: rows %v, want %v; %d rejected", name, rows, want, check.Rejected)
		}
	}
}

// lists encodes a column of lists of tokens below 300 as three tokens.
func lists() encoding.Encoding {
	e := texts(nil)
	e.Fields[0].Listed, e.Header, e.Lists = 300, []string{"t"}, map[string]int{"t": 3}
	return e
}

// TestListsBecomeTokens: a list is cut, padded, its unknown tokens are 1, its zeros at the
// end are padding, and a missing list is one without tokens, in every kind of file.
func TestListsBecomeTokens(t *testing.T) {
	want := [][]float64{{12, 5, 299}, {7, 0, 0}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 9, 0}}
	check := func(name string, e encoding.Encoding, file string, want [][]float64, missing int) {
		t.Helper()
		rows, check := encode(t, e, file)
		if !slices.EqualFunc(rows, want, slices.Equal) {
			t.Errorf("%s: rows %v, want %v", name, rows, want)
		}
		if check.Rejected != 0 || check.Columns[0].Missing != missing {
			t.Errorf("%s: %d rows rejected, %d cells missing, want %d", name, check.Rejected, check.Columns[0].Missing, missing)
		}
	}
	const cells = `[[12, 5, 299, 8], [7], [300, -1, null], [], null, [0, 9, 0]]`
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int16} {
		check(kind.Name(), lists(), parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.ListOf(kind), Nullable: true}}, nil), cells), want, 1)
	}
	const floats = `[[12, 5, 299, 8], [7], [1e300, 0.5, null], [], null, [0, 9, 0]]`
	check("floats", lists(), parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true}}, nil), floats), want, 1)
	check("nothing", lists(), parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.ListOf(arrow.Null), Nullable: true}}, nil), "[[], null, [null]]"), [][]float64{{0, 0, 0}, {0, 0, 0}, {1, 0, 0}}, 1)
	check("csv", lists(), "t,u\n\"[12, 5, 299, 8]\",1\n7.0,2\n\"[300, -1, None]\",3\n[],4\nNA,5\n0 9  0,6\n", want, 1)
	array := func(shape string, numbers any) string {
		return string(npyFile("{'descr': '<i4', 'fortran_order': False, 'shape': "+shape+"}", numbers))
	}
	want[4] = []float64{0, 0, 0}
	check("npy", lists(), array("(6, 3)", []int32{12, 5, 299, 7, 0, 0, 300, -1, 1 << 30, 0, 0, 0, 0, 0, 0, 0, 9, 0}), want, 0)
	beside := lists()
	beside.Fields[0].Out = []int{1, 2, 3}
	beside.Fields = append(beside.Fields, encoding.Field{Column: "y", Type: data.Integer, Kind: encoding.Numeric, Role: encoding.Response, Lower: ptr(0), Upper: ptr(9), Missing: encoding.MissingReject, Out: []int{0}})
	beside.K, beside.Header = 4, []string{"y", "t"}
	check("npy with labels", beside, array("(2, 4)", []int32{4, 12, 5, 299, 2, 7, 0, 0}), [][]float64{{4, 12, 5, 299}, {2, 7, 0, 0}}, 0)
	tokens := modelstest.File(t, "tokens.npy", array("(1, 2)", []int32{7, 8}))
	if err := os.WriteFile(filepath.Join(filepath.Dir(tokens), "labels.npy"), []byte(array("(1,)", []int32{3})), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readOne(tokens, lists(), Options{}); err == nil {
		t.Error("a label is read as a list")
	}
	beside.Fields[0].Out, beside.K, beside.Lists = []int{1, 2}, 3, map[string]int{"t": 2}
	features := filepath.Join(filepath.Dir(tokens), "features.npy")
	if err := os.Rename(tokens, features); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{features, tokens} {
		table, _, err := readOne(name, beside, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rows := unpack(t, table); !slices.Equal(rows[0], []float64{3, 7, 8}) {
			t.Errorf("labels beside %s: %v", name, rows)
		}
		if err := os.Rename(features, tokens); name == features && err != nil {
			t.Fatal(err)
		}
	}
	beside.Fields[0].Out, beside.K, beside.Lists = []int{1, 2, 3}, 4, map[string]int{"t": 3}
	answers := beside
	answers.Fields = beside.Fields[1:]
	check("npy, labels alone", answers, array("(2, 4)", []int32{4, 12, 5, 299, 2, 7, 0, 0}), [][]float64{{4, 0, 0, 0}, {2, 0, 0, 0}}, 0)
	check("npy without labels", beside.Predictors(), array("(1, 3)", []int32{7, 0, 0}), [][]float64{{0, 7, 0, 0}}, 0)
}

// TestListsOfWhatIsNoToken: what cannot be read as lists is refused, and no error has a
// record.
func TestListsOfWhatIsNoToken(t *testing.T) {
	list := func(kind arrow.DataType, cells string) string {
		return parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "t", Type: kind, Nullable: true}}, nil), cells)
	}
	for _, c := range []struct {
		name string
		e    encoding.Encoding
		file string
		want string
	}{
		{"text of lists", texts(nil), list(arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[3141592653]]`), "t: has type list of integer in the file (a tensor with tokens: 30000, how many tokens there are, reads lists of whole numbers)"},
		{"lists of text", lists(), list(arrow.ListOf(arrow.BinaryTypes.String), `[["3141592653"]]`), "t: has type list of text in the file (a tensor with tokens: words.txt, a public vocabulary with a token on each line, reads lists of words)"},
		{"lists of words that are numbers", wordLists("3141592653"), list(arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[3141592653]]`), "t: has type list of integer in the file (a tensor with tokens: 30000"},
		{"lists of lists", lists(), list(arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64)), `[[[3141592653]]]`), "t: has type nested in the file"},
		{"text in an array", texts(nil), string(npyFile("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 3)}", []int32{3, 14, 15})), "t: is text, which an array of numbers has not"},
		{"other length", lists(), string(npyFile("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 5)}", []int32{3, 1, 4, 1, 5})), "has 5 numbers in a record, but the model file declares 3"},
	} {
		c.e.Header = []string{"t"}
		_, _, err := readOne(fileAt(t, []byte(c.file)), c.e, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "3141592653") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
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
	return modelstest.File(t, "t.parquet", out.String())
}

// A list is encoded alone: the type that a program chooses for a column where a list of
// another record lacks a number, or all are empty, changes none.
func TestListRecordsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	pool := []string{"[]", "[7]", "[12,5,299,8]", "[0,3,0]", "[300,-1]", "[9,null]", "null", "[1,2,3,4,5,6]"}
	for k := range 24 {
		var records []string
		for range 1 + rng.IntN(10) {
			records = append(records, pool[rng.IntN(len(pool))])
		}
		alone(t, "lists", records, func(records []string, opt Options) (*Rows, error) {
			kind, cells := arrow.DataType(arrow.PrimitiveTypes.Int64), strings.Join(records, ",")
			if strings.Contains(cells, ",null]") {
				kind = arrow.PrimitiveTypes.Float64
			} else if !strings.ContainsAny(cells, "0123456789") {
				kind = arrow.Null
			}
			path := ""
			if k%2 == 0 {
				schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.ListOf(kind), Nullable: true}}, nil)
				path = modelstest.File(t, "t.parquet", parquetText(t, schema, "["+cells+"]"))
			} else {
				path = modelstest.File(t, "t.csv", "t,u\n\""+strings.Join(records, "\",0\n\"")+"\",0\n")
			}
			rows, _, err := readOne(path, lists(), opt)
			return rows, err
		})
	}
}
