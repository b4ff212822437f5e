package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/parquet"
)

// A column of a test: the function that makes a cell from a random number, and its value.
type source struct {
	name string
	kind arrow.DataType
	want parquet.Kind
	cell func(b array.Builder, x int64) (value any) // int64, float64 or string
}

func number[B interface{ Append(T) }, T any](make func(x int64) T, value func(T) any) func(array.Builder, int64) any {
	return func(b array.Builder, x int64) any {
		v := make(x)
		b.(B).Append(v)
		return value(v)
	}
}

func whole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](x T) any {
	return int64(x)
}

const day = 24 * time.Hour

func timestamps(unit arrow.TimeUnit) source {
	perDay := int64(day / unit.Multiplier())
	return source{fmt.Sprint("timestamp ", unit), &arrow.TimestampType{Unit: unit}, parquet.Day,
		number[*array.TimestampBuilder](func(x int64) arrow.Timestamp { return arrow.Timestamp(x << 8) }, func(x arrow.Timestamp) any {
			return int64(x)/perDay - int64(b2f(int64(x)%perDay < 0))
		})}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var sources = []source{
	{"float64", arrow.PrimitiveTypes.Float64, parquet.Float, number[*array.Float64Builder](func(x int64) float64 { return float64(x) / 3 }, func(x float64) any { return x })},
	{"float32", arrow.PrimitiveTypes.Float32, parquet.Float, number[*array.Float32Builder](func(x int64) float32 { return float32(x) / 3 }, func(x float32) any { return float64(x) })},
	{"int64", arrow.PrimitiveTypes.Int64, parquet.Int, number[*array.Int64Builder](func(x int64) int64 { return x << 20 }, whole[int64])},
	{"int32", arrow.PrimitiveTypes.Int32, parquet.Int, number[*array.Int32Builder](func(x int64) int32 { return int32(x) }, whole[int32])},
	{"int16", arrow.PrimitiveTypes.Int16, parquet.Int, number[*array.Int16Builder](func(x int64) int16 { return int16(x) }, whole[int16])},
	{"int8", arrow.PrimitiveTypes.Int8, parquet.Int, number[*array.Int8Builder](func(x int64) int8 { return int8(x) }, whole[int8])},
	{"uint64", arrow.PrimitiveTypes.Uint64, parquet.Uint, number[*array.Uint64Builder](func(x int64) uint64 { return uint64(x) }, whole[uint64])},
	{"uint32", arrow.PrimitiveTypes.Uint32, parquet.Uint, number[*array.Uint32Builder](func(x int64) uint32 { return uint32(x) }, whole[uint32])},
	{"uint8", arrow.PrimitiveTypes.Uint8, parquet.Uint, number[*array.Uint8Builder](func(x int64) uint8 { return uint8(x) }, whole[uint8])},
	{"bool", arrow.FixedWidthTypes.Boolean, parquet.Bool, number[*array.BooleanBuilder](func(x int64) bool { return x%3 == 0 }, func(x bool) any { return int64(b2f(x)) })},
	{"date32", arrow.PrimitiveTypes.Date32, parquet.Day, number[*array.Date32Builder](func(x int64) arrow.Date32 { return arrow.Date32(x) }, func(x arrow.Date32) any { return int64(x) })},
	{"int96", &arrow.TimestampType{Unit: arrow.Nanosecond}, parquet.Day, timestamps(arrow.Nanosecond).cell},
	timestamps(arrow.Millisecond), timestamps(arrow.Microsecond), timestamps(arrow.Nanosecond),
	{"text", arrow.BinaryTypes.String, parquet.Text, number[*array.StringBuilder](func(x int64) string { return fmt.Sprintf("%012d", x)[:int(x%12)] }, func(x string) any { return x })},
	{"bytes", arrow.BinaryTypes.Binary, parquet.Text, number[*array.BinaryBuilder](func(x int64) []byte { return []byte{byte(x), 0xff} }, func(x []byte) any { return string(x) })},
	{"decimal", &arrow.Decimal128Type{Precision: 30, Scale: 1}, parquet.Decimal, number[*array.Decimal128Builder](decimal128.FromI64, func(x decimal128.Num) any { return float64(int64(x.LowBits())) / 10 })},
	{"small decimal", &arrow.Decimal128Type{Precision: 8, Scale: 1}, parquet.Decimal, number[*array.Decimal128Builder](func(x int64) decimal128.Num { return decimal128.FromI64(x % 1e6) }, func(x decimal128.Num) any { return float64(int64(x.LowBits())) / 10 })},
	{"long decimal", &arrow.Decimal256Type{Precision: 60, Scale: 1}, parquet.Decimal, number[*array.Decimal256Builder](decimal256.FromI64, func(x decimal256.Num) any { return float64(int64(x.LowBits())) / 10 })},
}

// written is n cells of a column written in some way, and their values, nil of a null.
func written(t testing.TB, s source, n int, rng *rand.Rand, nulls float64, options ...arrowparquet.WriterProperty) (file []byte, values []any) {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, s.kind)
	few := rng.IntN(2) == 0 // different values
	for range n {
		x := int64(int32(rng.Uint32())) >> rng.IntN(32)
		if few {
			x = int64(rng.IntN(5))*1000 - 2000
		}
		if x < 0 && (s.name == "text") {
			x = -x
		}
		if rng.Float64() < nulls {
			b.AppendNull()
			values = append(values, nil)
		} else {
			values = append(values, s.cell(b, x))
		}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "first", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: s.kind, Nullable: nulls > 0}}, nil)
	first := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range n {
		first.Append(int64(i))
	}
	form := pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithDeprecatedInt96Timestamps(s.name == "int96"))
	return writtenFile(t, schema, form, options, first.NewArray(), b.NewArray()), values
}

// writtenFile is a Parquet file of columns, as Arrow writes it.
func writtenFile(t testing.TB, schema *arrow.Schema, form pqarrow.ArrowWriterProperties, options []arrowparquet.WriterProperty, columns ...arrow.Array) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(options...), form)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(array.NewRecord(schema, columns, int64(columns[0].Len()))), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read reads column i of a file in batches.
func read(file []byte, i, batch int) (kind parquet.Kind, values []any, err error) {
	f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, nil, err
	}
	if i >= len(f.Columns()) {
		return 0, nil, parquet.ErrDamaged
	}
	kind = f.Columns()[i].Kind
	r, err := f.Reader(i)
	if err != nil {
		return kind, nil, err
	}
	defer r.Close()
	for c := new(parquet.Cells); ; {
		if err := r.Read(c, batch); err != nil {
			return kind, nil, err
		}
		for i := range c.N {
			switch {
			case c.Null != nil && c.Null[i]:
				values = append(values, nil)
			case kind == parquet.Text:
				values = append(values, string(c.Text(i)))
			case kind == parquet.List:
				values = append(values, fmt.Sprint(c.List(i)))
			case kind == parquet.Float || kind == parquet.Decimal:
				values = append(values, c.Floats[i])
			default:
				values = append(values, c.Ints[i])
			}
		}
		if c.N < batch {
			return kind, values, nil
		}
	}
}

// Reading returns the cells that Arrow wrote, for all types, encodings, codecs, versions
// of pages, nulls, sizes of pages, row groups and batches.
func TestReadsWhatArrowWrites(t *testing.T) {
	plain := arrowparquet.WithDictionaryDefault(false)
	encoding := func(e arrowparquet.Encoding) []arrowparquet.WriterProperty {
		return []arrowparquet.WriterProperty{plain, arrowparquet.WithEncodingFor("x", e)}
	}
	encodings := map[string][]arrowparquet.WriterProperty{"dictionary": nil, "plain": {plain}}
	rng := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, s := range sources {
		ways := map[string][]arrowparquet.WriterProperty{}
		maps.Copy(ways, encodings)
		switch s.kind.ID() {
		case arrow.TIMESTAMP:
			if s.name != "int96" {
				ways["deltas"] = encoding(arrowparquet.Encodings.DeltaBinaryPacked)
			}
		case arrow.INT64, arrow.INT32, arrow.INT16, arrow.INT8, arrow.UINT64, arrow.UINT32, arrow.UINT8, arrow.DATE32:
			ways["deltas"] = encoding(arrowparquet.Encodings.DeltaBinaryPacked)
		case arrow.STRING, arrow.BINARY:
			ways["lengths"] = encoding(arrowparquet.Encodings.DeltaLengthByteArray)
			ways["prefixes"] = encoding(arrowparquet.Encodings.DeltaByteArray)
		case arrow.BOOL:
			ways["runs"] = encoding(arrowparquet.Encodings.RLE)
		}
		for _, name := range slices.Sorted(maps.Keys(ways)) { // the order of a map would draw other files each time
			way := ways[name]
			for _, version := range []arrowparquet.DataPageVersion{arrowparquet.DataPageV1, arrowparquet.DataPageV2} {
				if name == "runs" && version == arrowparquet.DataPageV1 {
					continue // as Arrow itself has it
				}
				for _, nulls := range []float64{0, 0.3, 1} {
					n, group, batch := rng.IntN(700), 1+rng.IntN(600), 1+rng.IntN(200)
					if name == "deltas" || name == "lengths" || name == "prefixes" { // Arrow cannot write nulls alone so
						n, group, batch, nulls = 600+n%400, 500, 500, min(nulls, 0.3)
					}
					codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli}[tried%5]
					options := append([]arrowparquet.WriterProperty{arrowparquet.WithCompression(codec), arrowparquet.WithDataPageVersion(version),
						arrowparquet.WithDataPageSize(int64(64 + rng.IntN(4000))), arrowparquet.WithMaxRowGroupLength(int64(group)),
						arrowparquet.WithDictionaryPageSizeLimit(1 << 11), arrowparquet.WithBatchSize(int64(batch))}, way...)
					file, want := written(t, s, n, rng, nulls, options...)
					kind, got, err := read(file, 1, 1+rng.IntN(700))
					if err != nil || kind != s.want || !slices.Equal(got, want) {
						t.Errorf("%s, %s, %v, version %d, nulls %g: kind %d, want %d; %d values, want %d: %v", s.name, name, codec, version, nulls, kind, s.want, len(got), len(want), err)
						for i := range min(len(got), len(want)) {
							if got[i] != want[i] {
								t.Errorf("value %d: %v, want %v", i, got[i], want[i])
								break
							}
						}
					}
					tried++
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d files were tried", tried)
	}
}

// Read reads any file or returns an error that quotes none of it, and takes no memory that
// the file's size does not warrant.
func FuzzRead(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i, s := range sources {
		for _, options := range [][]arrowparquet.WriterProperty{
			{arrowparquet.WithCompression([]compress.Compression{compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli}[i%4])},
			{arrowparquet.WithDictionaryDefault(false), arrowparquet.WithDataPageVersion(arrowparquet.DataPageV2)},
		} {
			file, _ := written(f, s, 20, rng, 0.2, options...)
			f.Add(file)
		}
	}
	for version := range arrowparquet.DataPageVersion(2) {
		file, _ := writtenLists(f, 20, rng, 0.2, arrowparquet.WithDataPageVersion(version))
		f.Add(file)
	}
	f.Add([]byte("PAR1PAR1PAR1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for i := range 2 {
			if _, _, err := read(file, i, 7); err != nil && !errors.Is(err, parquet.ErrDamaged) {
				t.Errorf("%v", err)
			}
		}
		if _, err := readLists(file, "x", 7, all); err != nil && !errors.Is(err, parquet.ErrDamaged) {
			t.Errorf("%v", err)
		}
	})
}

// A file with bytes changed is read or refused, and never ends the program.
func TestDamagedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for k := range 1200 {
		s := sources[k%len(sources)]
		file, _ := written(t, s, 30, rng, 0.2, arrowparquet.WithDataPageVersion(arrowparquet.DataPageVersion(k%2)), arrowparquet.WithDictionaryDefault(k%3 == 0))
		for range 1 + rng.IntN(3) {
			file[rng.IntN(len(file))] = byte(rng.Uint32())
		}
		if _, _, err := read(file, 1, 7); err != nil {
			failed++
		}
	}
	if failed < 30 {
		t.Errorf("only %d files were refused", failed)
	}
}

// TestLongTextsFillInParts: a short file may name a long text in every row, and Fill holds
// only as many at a time as fit in memory. Cells that stay behind dropped ones are kept.
func TestLongTextsFillInParts(t *testing.T) {
	const n, long = 150, 1 << 20
	words := []string{strings.Repeat("a", long), "short", strings.Repeat("b", long/2)}
	for name, options := range map[string][]arrowparquet.WriterProperty{
		"dictionary": {arrowparquet.WithDictionaryPageSizeLimit(8 << 20)},
		"plain":      {arrowparquet.WithDictionaryDefault(false)},
		"prefixes":   {arrowparquet.WithDictionaryDefault(false), arrowparquet.WithEncodingFor("x", arrowparquet.Encodings.DeltaByteArray)},
	} {
		var want []any
		texts := source{"text", arrow.BinaryTypes.String, parquet.Text, func(b array.Builder, _ int64) any {
			word := words[len(want)%3]
			b.(*array.StringBuilder).Append(word)
			want = append(want, word)
			return word
		}}
		raw, values := written(t, texts, n, rand.New(rand.NewPCG(1, 1)), 0.1, append(options, arrowparquet.WithCompression(compress.Codecs.Zstd), arrowparquet.WithStats(false))...)
		f, err := parquet.Open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Reader(1)
		if err != nil {
			t.Fatal(err)
		}
		c, at, fills := new(parquet.Cells), 0, 0
		for ; at < n && fills < n; fills++ {
			if err := r.Fill(c, 100); err != nil || c.N == 0 {
				t.Fatalf("%s: %d cells, %v", name, c.N, err)
			}
			if most := 16<<20 + 2*long; len(c.Bytes) > most {
				t.Errorf("%s: %d bytes of text at a time, want at most %d", name, len(c.Bytes), most)
			}
			take := max(1, c.N-fills%3)
			for i := range take {
				null := c.Null != nil && c.Null[i]
				if null != (values[at] == nil) || !null && string(c.Text(i)) != values[at] {
					t.Fatalf("%s: cell %d is not what was written", name, at)
				}
				at++
			}
			c.Drop(take)
		}
		r.Close()
		if at != n {
			t.Errorf("%s: %d cells, want %d", name, at, n)
		}
	}
}

// TestLongTextsAreEmpty: a text of more than 16 MiB is empty, in a short file too, and its
// neighbours are read.
func TestLongTextsAreEmpty(t *testing.T) {
	const longest = 16 << 20
	words := []string{"a", strings.Repeat("z", 70<<20), "b", strings.Repeat("y", longest), strings.Repeat("y", longest+1), "c"}
	want := slices.Clone(words)
	want[1], want[4] = "", ""
	for name, options := range map[string][]arrowparquet.WriterProperty{
		"dictionary": {arrowparquet.WithDictionaryPageSizeLimit(1 << 30)},
		"plain":      {arrowparquet.WithDictionaryDefault(false)},
		"lengths":    {arrowparquet.WithDictionaryDefault(false), arrowparquet.WithEncodingFor("x", arrowparquet.Encodings.DeltaLengthByteArray)},
		"prefixes":   {arrowparquet.WithDictionaryDefault(false), arrowparquet.WithEncodingFor("x", arrowparquet.Encodings.DeltaByteArray)},
	} {
		next := 0
		texts := source{"text", arrow.BinaryTypes.String, parquet.Text, func(b array.Builder, _ int64) any {
			b.(*array.StringBuilder).Append(words[next])
			next++
			return nil
		}}
		raw, _ := written(t, texts, len(words), rand.New(rand.NewPCG(1, 1)), 0, append(options, arrowparquet.WithCompression(compress.Codecs.Zstd), arrowparquet.WithStats(false))...)
		if len(raw) > 64<<10 {
			t.Fatalf("%s: %d bytes are no short file", name, len(raw))
		}
		_, got, err := read(raw, 1, 4)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d cells, %v", name, len(got), err)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: cell %d has %d bytes, want %d", name, i, len(fmt.Sprint(got[i])), len(want[i]))
			}
		}
	}
}

// DuckDB writes numbers by their first bytes, second bytes and so on in files of version 2:
// copy (select case when i%5=0 then null else i/8-3 end as x, cast(case when i%3=0 then null
// else -i/4 end as float) as f from range(300) t(i)) to 'duckdb-split.parquet' (parquet_version v2).
func TestSplitNumbers(t *testing.T) {
	file, err := os.ReadFile("testdata/duckdb-split.parquet")
	if err != nil {
		t.Fatal(err)
	}
	var x, f []any
	for i := range 300 {
		x, f = append(x, float64(i)/8-3), append(f, -float64(i)/4)
		if i%5 == 0 {
			x[i] = nil
		}
		if i%3 == 0 {
			f[i] = nil
		}
	}
	for k, want := range [][]any{x, f} {
		if kind, got, err := read(file, k, 7); err != nil || kind != parquet.Float || !slices.Equal(got, want) {
			t.Errorf("column %d: kind %d, %v, want %v: %v", k, kind, got, want, err)
		}
	}
}

// longTail is a file in which a statistic of a GiB, of zeros, precedes the last bytes.
type longTail struct {
	start, end []byte
	size       int64
}

func (l longTail) ReadAt(to []byte, at int64) (int, error) {
	if at < int64(len(l.start)) {
		copy(to, l.start[at:])
	}
	if end := l.size - int64(len(l.end)); at+int64(len(to)) > end {
		copy(to[max(0, end-at):], l.end[max(0, at-end):])
	}
	return len(to), nil
}

// A long text of one record may stand in the metadata, too.
func TestLongStatisticsAreNoDamage(t *testing.T) {
	const long = 1 << 30
	file, _ := writtenWords(t)
	body := len(file) - 8
	n := binary.LittleEndian.Uint32(file[body:])
	start := append(slices.Clone(file[:body-1]), 0x08, 0xc6, 0x01) // field 99, of bytes
	start = binary.AppendUvarint(start, long)
	end := append([]byte{0}, binary.LittleEndian.AppendUint32(nil, n+uint32(len(start)-(body-1))+long)...)
	end = append(end, "PAR1"...)
	size := int64(len(start)) + long + int64(len(end))
	f, err := parquet.Open(longTail{start, end, size}, size)
	if err != nil || f.Rows() == 0 {
		t.Fatal(err)
	}
}
