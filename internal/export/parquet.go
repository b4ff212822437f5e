package export

import (
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
)

// writeParquet writes real columns as float64, integers as int64, dates as days
// and levels as strings; missing values are null.
func writeParquet(w io.Writer, t simulate.Table, o Options) error {
	var fields []arrow.Field
	for _, c := range t.Columns {
		fields = append(fields, arrow.Field{Name: c.HeaderName(), Type: arrowType(c), Nullable: true})
	}
	if o.Privacy != "" {
		fields = append(fields, arrow.Field{Name: "privacy", Type: arrow.BinaryTypes.String})
	}
	metadata := arrow.MetadataFrom(o.Metadata)
	schema := arrow.NewSchema(fields, &metadata)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for j, c := range t.Columns {
		appendColumn(b.Field(j), c, t.Values[j])
	}
	if o.Privacy != "" {
		privacy := b.Field(len(t.Columns)).(*array.StringBuilder)
		for range rows(t) {
			privacy.Append(o.Privacy)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return WriteRecord(w, record, true)
}

func arrowType(c *data.Column) arrow.DataType {
	switch c.Type.V {
	case data.Real:
		return arrow.PrimitiveTypes.Float64
	case data.Integer:
		return arrow.PrimitiveTypes.Int64
	case data.Date:
		return arrow.FixedWidthTypes.Date32
	}
	return arrow.BinaryTypes.String
}

// appendColumn appends the values of a column to a builder of its arrowType.
func appendColumn(b array.Builder, c *data.Column, values []float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Float64Builder:
			b.Append(v)
		case *array.Int64Builder:
			b.Append(int64(v))
		case *array.Date32Builder:
			b.Append(arrow.Date32(c.Day(v)))
		case *array.StringBuilder:
			b.Append(c.Levels[int(v)].V)
		}
	}
}
