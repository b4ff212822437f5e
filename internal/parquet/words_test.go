package parquet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/parquet"
)

// writtenWords is 400 lists of texts and what they are as one text each; some lists and
// words are missing.
func writtenWords(t *testing.T, options ...arrowparquet.WriterProperty) (file []byte, texts []string) {
	t.Helper()
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	words := lists.ValueBuilder().(*array.StringBuilder)
	for i := range 400 {
		var text []string
		lists.Append(i%7 != 3)
		for k := 0; k < i%5 && i%7 != 3; k++ {
			if i*k%13 == 6 {
				words.AppendNull()
				continue
			}
			text = append(text, fmt.Sprint("w", i*k%31))
			words.Append(text[len(text)-1])
		}
		texts = append(texts, strings.Join(text, " "))
	}
	column := lists.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: column.DataType(), Nullable: true}}, nil)
	return writtenFile(t, schema, pqarrow.DefaultWriterProps(), options, column), texts
}

// readWords reads the only column of a file as texts.
func readWords(file []byte, batch int, drop func(n int) int) (texts []string, missing int, err error) {
	f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, 0, err
	}
	if kind := f.Columns()[0].Kind; kind != parquet.Words {
		return nil, 0, fmt.Errorf("kind %d", kind)
	}
	r, err := f.Reader(0)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	for c := new(parquet.Cells); ; {
		if err := r.Fill(c, batch); err != nil || c.N == 0 {
			return texts, missing, err
		}
		n := drop(c.N)
		for i := range n {
			texts = append(texts, string(c.Text(i)))
			if c.Null != nil && c.Null[i] {
				missing++
			}
		}
		c.Drop(n)
	}
}

// A list of texts is its words with spaces between, for all versions of pages, encodings,
// sizes of pages, row groups and batches.
func TestReadsListsOfTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for k := range 24 {
		file, want := writtenWords(t,
			arrowparquet.WithDataPageVersion([]arrowparquet.DataPageVersion{arrowparquet.DataPageV1, arrowparquet.DataPageV2}[k%2]), arrowparquet.WithDictionaryDefault(k%3 > 0),
			arrowparquet.WithDataPageSize(int64(64+rng.IntN(2000))), arrowparquet.WithMaxRowGroupLength(int64(20+rng.IntN(300))), arrowparquet.WithBatchSize(int64(20+rng.IntN(200))))
		got, missing, err := readWords(file, 1+rng.IntN(300), func(n int) int { return 1 + rng.IntN(n) })
		if err != nil || !slices.Equal(got, want) || missing != 57 {
			t.Errorf("file %d: %d texts, want %d, %d missing: %v", k, len(got), len(want), missing, err)
		}
	}
}

// pyarrow's lists of texts are read, from github.com/apache/parquet-testing.
func TestListsOfTextsOfPyarrow(t *testing.T) {
	file, err := os.ReadFile("testdata/pyarrow-lists.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Reader(1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := new(parquet.Cells)
	if err := r.Read(c, 10); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.N {
		got = append(got, string(c.Text(i)))
	}
	if want := []string{"abc efg hij", "", "efg hij xyz"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Many long words make one text that is bounded, and later lists are read whole.
func TestListOfLongTexts(t *testing.T) {
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	words := lists.ValueBuilder().(*array.StringBuilder)
	long := strings.Repeat("x", 1<<20)
	lists.Append(true)
	for range 40 {
		words.Append(long)
	}
	words.Append("y")
	lists.Append(true)
	words.Append("z")
	column := lists.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: column.DataType()}}, nil)
	texts, _, err := readWords(writtenFile(t, schema, pqarrow.DefaultWriterProps(), nil, column), 10, all)
	if err != nil || len(texts) != 2 || len(texts[0]) != 15*(1<<20+1)-1 || texts[1] != "z" {
		t.Errorf("%d texts: %v", len(texts), err)
	}
}
