package outputs

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"d3p/internal/export"
	"d3p/internal/release"
)

// largeTensor is the number of elements from which a parameter is one column of lists
// instead of one column per element.
const largeTensor = 2000

// DrawsFile is draws.parquet: one row per draw, the columns .chain, .iteration and .draw
// (int32, from 1) and one float64 column per variable, named as the R package posterior and
// brms do. A parameter of more than 2000 elements is one column of lists of all elements,
// row-major, with its shape in the metadata of the field. metadata goes into the file's
// key/values.
func DrawsFile(d Draws, metadata map[string]string) release.File {
	return release.File{Name: drawsName, Covered: true, Write: func(w io.Writer) error { return writeDraws(w, d, metadata) }}
}

func writeDraws(w io.Writer, d Draws, metadata map[string]string) error {
	fields := []arrow.Field{
		{Name: ".chain", Type: arrow.PrimitiveTypes.Int32},
		{Name: ".iteration", Type: arrow.PrimitiveTypes.Int32},
		{Name: ".draw", Type: arrow.PrimitiveTypes.Int32},
	}
	chain, draw := make([]int32, d.S), make([]int32, d.S)
	for i := range d.S {
		chain[i], draw[i] = 1, int32(i+1)
	}
	columns := []arrow.Array{int32s(chain), int32s(draw), int32s(draw)}
	for _, g := range d.Groups {
		if g.Size > largeTensor {
			fields = append(fields, arrow.Field{Name: g.Name, Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true,
				Metadata: fieldMetadata(d.Variables[g.First], "d3p.shape", shapeText(g.Dims))})
			columns = append(columns, tensors(d, g))
			continue
		}
		for v := g.First; v < g.First+g.Size; v++ {
			fields = append(fields, arrow.Field{Name: d.Variables[v].Name, Type: arrow.PrimitiveTypes.Float64, Metadata: fieldMetadata(d.Variables[v])})
			columns = append(columns, float64s(d.Of(v)))
		}
	}
	return writeParquet(w, fields, columns, metadata)
}

// fieldMetadata describes the scale of a variable, with more keys and values.
func fieldMetadata(v Variable, more ...string) arrow.Metadata {
	keys := map[string]string{"d3p.dims": v.Dims, "d3p.transform": v.Transform, "d3p.constraint": v.Constraint}
	for i := 0; i < len(more); i += 2 {
		keys[more[i]] = more[i+1]
	}
	return arrow.MetadataFrom(keys)
}

// shapeText is the shape of an array: 64,784.
func shapeText(dims []Dim) string {
	var sizes []string
	for _, d := range dims {
		sizes = append(sizes, strconv.Itoa(len(d.Labels)))
	}
	return strings.Join(sizes, ",")
}

// writeParquet writes one table and releases its columns.
func writeParquet(w io.Writer, fields []arrow.Field, columns []arrow.Array, metadata map[string]string) error {
	keyValues := arrow.MetadataFrom(metadata)
	record := array.NewRecord(arrow.NewSchema(fields, &keyValues), columns, int64(columns[0].Len()))
	for _, c := range columns {
		c.Release()
	}
	defer record.Release()
	if err := export.WriteRecord(w, record, false); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

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

// tensors are the draws of all elements of a parameter: a list per draw. Lists of a fixed
// size would be clearer, but this library writes them as nulls:
// github.com/apache/arrow-go/issues/584.
func tensors(d Draws, g Group) arrow.Array {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float64)
	defer b.Release()
	values := b.ValueBuilder().(*array.Float64Builder)
	values.Reserve(d.S * g.Size)
	for s := range d.S {
		b.Append(true)
		for v := g.First; v < g.First+g.Size; v++ {
			values.Append(d.Of(v)[s])
		}
	}
	return b.NewArray()
}
