package report

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

const rowGroup = 128 << 10 // rows

// DrawsFile is draws.parquet: one row per draw, the columns .chain, .iteration
// and .draw (int32, from 1) and one float64 column per variable, named as the R
// package posterior and brms do. metadata goes into the file's key/values.
func DrawsFile(d Draws, metadata map[string]string) File {
	return File{"draws.parquet", true, func(w io.Writer) error { return writeDraws(w, d, metadata) }}
}

func writeDraws(w io.Writer, d Draws, metadata map[string]string) error {
	fields := []arrow.Field{
		{Name: ".chain", Type: arrow.PrimitiveTypes.Int32},
		{Name: ".iteration", Type: arrow.PrimitiveTypes.Int32},
		{Name: ".draw", Type: arrow.PrimitiveTypes.Int32},
	}
	for _, v := range d.Variables {
		fields = append(fields, arrow.Field{Name: v.Name, Type: arrow.PrimitiveTypes.Float64,
			Metadata: arrow.MetadataFrom(map[string]string{
				"d3p.dims": v.Dims, "d3p.transform": v.Transform,
			})})
	}
	chain, draw := make([]int32, d.S), make([]int32, d.S)
	for i := range d.S {
		chain[i], draw[i] = 1, int32(i+1)
	}
	columns := []arrow.Array{int32s(chain), int32s(draw), int32s(draw)}
	for v := range d.Variables {
		columns = append(columns, float64s(d.Of(v)))
	}
	return writeParquet(w, fields, columns, metadata)
}

// writeParquet writes one table and releases its columns.
func writeParquet(w io.Writer, fields []arrow.Field, columns []arrow.Array, metadata map[string]string) error {
	keyValues := arrow.MetadataFrom(metadata)
	schema := arrow.NewSchema(fields, &keyValues)
	record := array.NewRecord(schema, columns, int64(columns[0].Len()))
	for _, c := range columns {
		c.Release()
	}
	defer record.Release()

	out, err := pqarrow.NewFileWriter(schema, notClosed{w},
		parquet.NewWriterProperties(
			parquet.WithCompression(compress.Codecs.Zstd),
			parquet.WithMaxRowGroupLength(rowGroup),
			parquet.WithDictionaryDefault(false), // draws hardly ever repeat
			parquet.WithCreatedBy("d3p")),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	if err := out.Write(record); err != nil {
		return err
	}
	return out.Close()
}

// notClosed keeps the Parquet writer from closing a file that is not its own.
type notClosed struct{ io.Writer }

func int32s(x []int32) arrow.Array {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(x, nil)
	return b.NewArray()
}

func float64s(x []float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(x, nil)
	return b.NewArray()
}
