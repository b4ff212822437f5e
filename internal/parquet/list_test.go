package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/parquet"
)

// writtenLists is n lists of whole numbers of some type, written in some way, and their values: nil of
// a missing list, Missing of a missing number.
func writtenLists(t testing.TB, n int, rng *rand.Rand, nulls float64, options ...arrowparquet.WriterProperty) (file []byte, values [][]int64) {
	t.Helper()
	kind := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Float64}[rng.IntN(4)]
	lists := array.NewListBuilder(memory.DefaultAllocator, kind)
	most := []int{1, 4, 40}[rng.IntN(3)]
	for range n {
		if rng.Float64() < nulls/2 {
			lists.AppendNull()
			values = append(values, nil)
			continue
		}
		lists.Append(true)
		list := []int64{}
		for range rng.IntN(most + 1) {
			x := int64(rng.IntN(1 << rng.IntN(16)))
			switch b := lists.ValueBuilder().(type) {
			case *array.Int32Builder:
				b.Append(int32(x))
			case *array.Int64Builder:
				b.Append(x)
			case *array.Uint16Builder:
				b.Append(uint16(x))
			case *array.Float64Builder:
				b.Append(float64(x))
			}
			if rng.Float64() < nulls/4 {
				lists.ValueBuilder().AppendNull()
				list = append(list, x)
				x = parquet.Missing
			}
			list = append(list, x)
		}
		values = append(values, list)
	}
	numbers := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range n {
		numbers.Append(int64(i))
	}
	column, first := lists.NewArray(), numbers.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: column.DataType(), Nullable: nulls > 0 || rng.IntN(2) == 0}, {Name: "last", Type: arrow.PrimitiveTypes.Int64}}, nil)
	return writtenFile(t, schema, pqarrow.DefaultWriterProps(), options, column, first), values
}

// readLists reads a column of lists by Fill.
func readLists(file []byte, column string, batch int, drop func(n int) int) (values [][]int64, err error) {
	f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(f.Columns(), func(c parquet.Column) bool { return c.Name == column })
	if i < 0 || f.Columns()[i].Kind != parquet.List || f.Rows() == 0 {
		return nil, parquet.ErrDamaged
	}
	r, err := f.Reader(i)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for c := new(parquet.Cells); ; {
		if err := r.Fill(c, batch); err != nil || c.N == 0 {
			return values, err
		}
		n := drop(c.N)
		for i := range n {
			if c.Null != nil && c.Null[i] {
				values = append(values, nil)
			} else {
				values = append(values, append([]int64{}, c.List(i)...))
			}
		}
		c.Drop(n)
	}
}

func all(n int) int { return n }

func sameList(a, b []int64) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// Lists are those that Arrow wrote, for all codecs, versions of pages, encodings, nulls,
// sizes of pages, row groups and batches.
func TestReadsListsThatArrowWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 60 {
		options := []arrowparquet.WriterProperty{
			arrowparquet.WithCompression([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}[k%3]),
			arrowparquet.WithDataPageVersion([]arrowparquet.DataPageVersion{arrowparquet.DataPageV1, arrowparquet.DataPageV2}[k%2]),
			arrowparquet.WithDictionaryDefault(k%5 > 1), arrowparquet.WithDataPageSize(int64(64 + rng.IntN(4000))), arrowparquet.WithMaxRowGroupLength(int64(20 + rng.IntN(600))),
			arrowparquet.WithBatchSize(int64(20 + rng.IntN(200))), arrowparquet.WithDictionaryPageSizeLimit(1 << 11),
		}
		file, want := writtenLists(t, 1+rng.IntN(700), rng, float64(k%4)/4, options...)
		got, err := readLists(file, "x", 1+rng.IntN(700), func(n int) int { return 1 + rng.IntN(n) })
		if err != nil || !slices.EqualFunc(got, want, sameList) {
			t.Errorf("file %d: %d lists, want %d: %v", k, len(got), len(want), err)
		}
		if _, numbers, err := read(file, 1, 100); err != nil || len(numbers) != len(want) {
			t.Errorf("file %d: %d numbers beside the lists: %v", k, len(numbers), err)
		}
	}
}

// Lists are those that other programs wrote: DuckDB 1.5.6; pyarrow and parquet-mr with a
// bare repeated column, from github.com/apache/parquet-testing.
func TestReadsListsOfOthers(t *testing.T) {
	var duck [][]int64
	for i := range int64(40) {
		switch {
		case i%7 == 0:
			duck = append(duck, nil)
		case i%5 == 0:
			duck = append(duck, []int64{})
		case i%11 == 0:
			duck = append(duck, []int64{1, parquet.Missing, i})
		default:
			list := []int64{}
			for x := range i % 9 {
				list = append(list, (x+1)*i)
			}
			duck = append(duck, list)
		}
	}
	for _, c := range []struct {
		file, column string
		want         [][]int64
	}{
		{"duckdb-lists", "tokens", duck},
		{"pyarrow-lists", "int64_list", [][]int64{{1, 2, 3}, {parquet.Missing, 1}, {4}}},
		{"repeated", "Int32_list", [][]int64{{0, 1, 2, 3}, {}, {4}, {5, 6, 7, 8}}},
	} {
		file, err := os.ReadFile("testdata/" + c.file + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readLists(file, c.column, 3, all); err != nil || !slices.EqualFunc(got, c.want, sameList) {
			t.Errorf("%s: %v, want %v: %v", c.file, got, c.want, err)
		}
	}
}

// A file of lists with bytes changed is read or refused, and never ends the program.
func TestDamagedLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for k := range 1000 {
		file, want := writtenLists(t, 30, rng, 0.3, arrowparquet.WithDataPageVersion(arrowparquet.DataPageVersion(k%2)), arrowparquet.WithDictionaryDefault(k%3 == 0))
		for range 1 + rng.IntN(3) {
			file[rng.IntN(len(file))] = byte(rng.Uint32())
		}
		got, err := readLists(file, "x", 7, all)
		if err != nil && !errors.Is(err, parquet.ErrDamaged) {
			t.Errorf("%v", err)
		}
		if err != nil {
			failed++
		} else if len(got) != len(want) {
			t.Errorf("file %d: %d lists without an error, want %d", k, len(got), len(want))
		}
	}
	if failed < 30 {
		t.Errorf("only %d files were refused", failed)
	}
}

// A list may have any number of missing entries, which take no space: it is a list, and its
// neighbours are read.
func TestLongListOfMissingNumbers(t *testing.T) {
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8)
	numbers := lists.ValueBuilder().(*array.Int8Builder)
	for _, n := range []int{0, 68 << 20, 0} {
		lists.Append(true)
		numbers.AppendNulls(n)
		numbers.Append(7)
	}
	column := lists.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: column.DataType()}}, nil)
	file := writtenFile(t, schema, pqarrow.DefaultWriterProps(), []arrowparquet.WriterProperty{arrowparquet.WithStats(false)}, column)
	got, err := readLists(file, "x", 10, all)
	if err != nil || len(got) != 3 || !sameList(got[0], []int64{7}) || len(got[1]) != 1<<20 || !sameList(got[2], []int64{7}) {
		t.Errorf("%d lists, %v", len(got), err)
	}
}

// Nor does one of a long list of equal numbers, which deltas and zstd store in a few bytes.
func TestLongListOfEqualNumbers(t *testing.T) {
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8)
	numbers := lists.ValueBuilder().(*array.Int8Builder)
	for _, n := range []int{1, 68 << 20, 1} {
		lists.Append(true)
		numbers.AppendValues(slices.Repeat([]int8{7}, n), nil)
	}
	column := lists.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: column.DataType()}}, nil)
	file := writtenFile(t, schema, pqarrow.DefaultWriterProps(), []arrowparquet.WriterProperty{
		arrowparquet.WithStats(false), arrowparquet.WithDictionaryDefault(false), arrowparquet.WithEncoding(arrowparquet.Encodings.DeltaBinaryPacked),
		arrowparquet.WithCompression(compress.Codecs.Zstd), arrowparquet.WithDataPageSize(1 << 30),
	}, column)
	got, err := readLists(file, "x", 10, all)
	if err != nil || len(got) != 3 || !sameList(got[0], []int64{7}) || len(got[1]) != 1<<20 || got[1][1<<20-1] != 7 || !sameList(got[2], []int64{7}) {
		t.Errorf("%d lists in %d bytes, %v", len(got), len(file), err)
	}
}

// Columns of lists have a type in words.
func TestTypesOfLists(t *testing.T) {
	file, err := os.ReadFile("testdata/pyarrow-lists.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.Columns() {
		got = append(got, fmt.Sprint(c.Name, ": ", c.Kind, " ", c.Type))
	}
	want := []string{fmt.Sprint("int64_list: ", parquet.List, " list of integer"), fmt.Sprint("utf8_list: ", parquet.Words, " list of text")}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
