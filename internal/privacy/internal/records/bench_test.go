package records

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v15/arrow/csv"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/privacy/noise"
)

// bigTable writes n records of k numbers of seven digits to a file, and returns
// its size and the encoding that reads all of it.
func bigTable(b *testing.B, n, k int) (path string, size int64, e encoding.Encoding) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "data.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for i := range n + 1 {
		for j := range k {
			if j > 0 {
				text.WriteByte(',')
			}
			if i == 0 {
				fmt.Fprintf(&text, "x%d", j)
				e.Fields = append(e.Fields, encoding.Field{Column: fmt.Sprintf("x%d", j), Type: data.Real, Kind: encoding.Numeric,
					Lower: ptr(-5), Upper: ptr(5), Center: 0, Scale: 1, Missing: encoding.MissingReject, Out: []int{j}})
			} else {
				fmt.Fprintf(&text, "%.5f", rng.NormFloat64())
			}
		}
		text.WriteByte('\n')
	}
	size = int64(text.Len())
	if _, err := f.Write(text.Bytes()); err != nil {
		b.Fatal(err)
	}
	e.K = k
	return path, size, e
}

// BenchmarkReadCSV reads 200,000 records of 20 numbers, into float32 rows as
// fits do by default, and with Arrow's reader, which knows the schema.
func BenchmarkReadCSV(b *testing.B) {
	const n, k = 200_000, 20
	path, size, e := bigTable(b, n, k)
	rate := func(b *testing.B) {
		b.SetBytes(size)
		b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	}
	for _, p := range []struct {
		name      string
		precision Precision
	}{{"float64", Float64}, {"float32", Float32}} {
		b.Run(p.name, func(b *testing.B) {
			for range b.N {
				rows, _, err := readOne(path, e, Options{Precision: p.precision})
				if err != nil || rows.N != n {
					b.Fatal(rows, err)
				}
			}
			rate(b)
		})
	}
	b.Run("arrow", func(b *testing.B) {
		var fields []arrow.Field
		for _, f := range e.Fields {
			fields = append(fields, arrow.Field{Name: f.Column, Type: arrow.PrimitiveTypes.Float64})
		}
		for range b.N {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			r := arrowcsv.NewReader(f, arrow.NewSchema(fields, nil), arrowcsv.WithHeader(true), arrowcsv.WithChunk(64<<10))
			read := int64(0)
			for r.Next() {
				read += r.Record().NumRows()
			}
			if r.Err() != nil || read != n {
				b.Fatal(read, r.Err())
			}
			f.Close()
		}
		rate(b)
	})
}

// BenchmarkReadParquet reads 200,000 records of 20 numbers, zstd, in one row group or in
// ten.
func BenchmarkReadParquet(b *testing.B) {
	b.Run("group", func(b *testing.B) { benchmarkReadParquet(b, 1) })
	b.Run("groups", func(b *testing.B) { benchmarkReadParquet(b, 10) })
}

func benchmarkReadParquet(b *testing.B, groups int64) {
	const n, k = 200_000, 20
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []arrow.Field
	var columns []arrow.Array
	e := encoding.Encoding{K: k}
	for j := range k {
		name := fmt.Sprintf("x%d", j)
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
		e.Fields = append(e.Fields, encoding.Field{Column: name, Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{j}})
		column := array.NewFloat64Builder(memory.DefaultAllocator)
		for range n {
			column.Append(rng.NormFloat64())
		}
		columns = append(columns, column.NewArray())
	}
	path := filepath.Join(b.TempDir(), "data.parquet")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	schema := arrow.NewSchema(fields, nil)
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false), parquet.WithMaxRowGroupLength(n/groups)), pqarrow.DefaultWriterProps())
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Write(array.NewRecord(schema, columns, n)); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		rows, _, err := readOne(path, e, Options{Precision: Float32})
		if err != nil || rows.N != n {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkReadParts reads 200,000 records of 20 numbers from four files of CSV by gzip.
func BenchmarkReadParts(b *testing.B) {
	const n, k = 50_000, 20
	path, size, e := bigTable(b, n, k)
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	packed := zipped(text)
	var paths []string
	for i := range 4 {
		paths = append(paths, filepath.Join(b.TempDir(), fmt.Sprintf("part-%d.csv.gz", i)))
		if err := os.WriteFile(paths[i], packed, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(4 * size)
	b.ResetTimer()
	for range b.N {
		rows, _, err := Read("table", paths, e, Options{Precision: Float32})
		if err != nil || rows.N != 4*n {
			b.Fatal(err)
		}
	}
	b.ReportMetric(4*n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkReadUnits reads 200,000 rows of 20 numbers that belong to 50,000
// units, at most 3 of each, in random order.
func BenchmarkReadUnits(b *testing.B) {
	const n, k = 200_000, 20
	path, size, e := bigTable(b, n, k)
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	ids := append([]byte("id,"), text...)
	rng := rand.New(rand.NewPCG(3, 4))
	ids = regexp.MustCompile(`\n.`).ReplaceAllFunc(ids, func(start []byte) []byte {
		return fmt.Appendf(nil, "\nperson%d,%c", rng.IntN(n/4), start[1])
	})
	if err := os.WriteFile(path, ids, 0o600); err != nil {
		b.Fatal(err)
	}
	e.UnitID, e.RowsPerUnit, e.Keep = "id", 3, encoding.KeepRandom
	b.SetBytes(size)
	b.ResetTimer()
	for range b.N {
		rows, _, err := readOne(path, e, Options{Precision: Float32, Selection: noise.Insecure(1).Stream(noise.RowSelection)})
		if err != nil || rows.N > n/4 {
			b.Fatal(rows, err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
