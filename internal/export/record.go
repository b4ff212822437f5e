package export

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// rowGroup is the largest number of rows in a group of a Parquet file.
const rowGroup = 128 << 10

// WriteRecord writes one Arrow record as a Parquet file, compressed by zstd, with its Arrow
// schema, so that the metadata of fields survive. Dictionaries save space for repeated
// values, which draws hardly have. The columns may be int32, int64, float64, dates,
// strings, and lists of float64 without nulls. The file equals that of arrow's package
// pqarrow, which would link gRPC and TLS.
func WriteRecord(w io.Writer, record arrow.Record, dictionaries bool) error {
	root, err := parquetSchema(record.Schema())
	if err != nil {
		return err
	}
	keyValues, err := keyValues(record.Schema())
	if err != nil {
		return err
	}
	out := file.NewParquetWriter(notClosed{w}, root, file.WithWriteMetadata(keyValues),
		file.WithWriterProps(parquet.NewWriterProperties(
			parquet.WithCompression(compress.Codecs.Zstd),
			parquet.WithMaxRowGroupLength(rowGroup),
			parquet.WithDictionaryDefault(dictionaries),
			parquet.WithCreatedBy("d3p"))))
	for from := int64(0); from == 0 || from < record.NumRows(); from += rowGroup {
		if err := writeGroup(out.AppendRowGroup(), record, from, min(from+rowGroup, record.NumRows())); err != nil {
			return err
		}
	}
	return out.Close()
}

// notClosed keeps the Parquet writer from closing its caller's file.
type notClosed struct{ io.Writer }

// keyValues are the metadata of a schema and the schema itself, as Arrow stores it.
func keyValues(s *arrow.Schema) (metadata.KeyValueMetadata, error) {
	var list metadata.KeyValueMetadata
	for i, key := range s.Metadata().Keys() {
		if err := list.Append(key, s.Metadata().Values()[i]); err != nil {
			return nil, err
		}
	}
	var stream bytes.Buffer // without a record
	if err := ipc.NewWriter(&stream, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	return list, list.Append("ARROW:schema", base64.StdEncoding.EncodeToString(stream.Bytes()))
}

// parquetSchema is the Parquet schema of the columns of an Arrow schema.
func parquetSchema(s *arrow.Schema) (*schema.GroupNode, error) {
	var nodes schema.FieldList
	for _, f := range s.Fields() {
		node, err := parquetNode(f)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Repeated, nodes, -1)
}

func parquetNode(f arrow.Field) (schema.Node, error) {
	repetition := parquet.Repetitions.Required
	if f.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	primitive := func(physical parquet.Type, logical schema.LogicalType) (schema.Node, error) {
		return schema.NewPrimitiveNodeLogical(f.Name, repetition, logical, physical, -1, -1)
	}
	switch f.Type.ID() {
	case arrow.INT32:
		return primitive(parquet.Types.Int32, schema.NewIntLogicalType(32, true))
	case arrow.INT64:
		return primitive(parquet.Types.Int64, schema.NewIntLogicalType(64, true))
	case arrow.DATE32:
		return primitive(parquet.Types.Int32, schema.DateLogicalType{})
	case arrow.FLOAT64:
		return primitive(parquet.Types.Double, schema.NoLogicalType{})
	case arrow.STRING:
		return primitive(parquet.Types.ByteArray, schema.StringLogicalType{})
	case arrow.LIST:
		element, err := parquetNode(arrow.Field{Name: f.Name, Type: f.Type.(*arrow.ListType).Elem(), Nullable: true})
		if err != nil {
			return nil, err
		}
		return schema.ListOf(element, repetition, -1)
	}
	return nil, fmt.Errorf("column %s is %s, which d3p does not write", f.Name, f.Type)
}

// writeGroup writes the rows from..to of a record.
func writeGroup(group file.SerialRowGroupWriter, record arrow.Record, from, to int64) error {
	rows := record.NewSlice(from, to)
	defer rows.Release()
	for i, column := range rows.Columns() {
		chunk, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := writeColumn(chunk, column, record.Schema().Field(i).Nullable); err != nil {
			return err
		}
	}
	return group.Close()
}

func writeColumn(chunk file.ColumnChunkWriter, column arrow.Array, nullable bool) error {
	switch x := column.(type) {
	case *array.Int32:
		return writeFlat(chunk.(*file.Int32ColumnChunkWriter), x, x.Int32Values(), nullable)
	case *array.Int64:
		return writeFlat(chunk.(*file.Int64ColumnChunkWriter), x, x.Int64Values(), nullable)
	case *array.Float64:
		return writeFlat(chunk.(*file.Float64ColumnChunkWriter), x, x.Float64Values(), nullable)
	case *array.Date32:
		days := make([]int32, x.Len())
		for i, day := range x.Date32Values() {
			days[i] = int32(day)
		}
		return writeFlat(chunk.(*file.Int32ColumnChunkWriter), x, days, nullable)
	case *array.String:
		text := make([]parquet.ByteArray, x.Len())
		for i := range text {
			text[i] = parquet.ByteArray(x.Value(i))
		}
		return writeFlat(chunk.(*file.ByteArrayColumnChunkWriter), x, text, nullable)
	case *array.List:
		return writeLists(chunk.(*file.Float64ColumnChunkWriter), x)
	}
	return fmt.Errorf("a column is %s, which d3p does not write", column.DataType())
}

// chunkOf is the part of a column in a row group, with values of one type.
type chunkOf[T any] interface {
	WriteBatch(values []T, definition, repetition []int16) (int64, error)
	WriteBatchSpaced(values []T, definition, repetition []int16, valid []byte, offset int64)
}

// writeFlat writes a column with at most one value per row. The definition level is 1 for a
// value, else 0.
func writeFlat[T any](chunk chunkOf[T], column arrow.Array, values []T, nullable bool) error {
	if !nullable {
		_, err := chunk.WriteBatch(values, nil, nil)
		return err
	}
	definition := make([]int16, column.Len())
	for i := range definition {
		if column.IsValid(i) {
			definition[i] = 1
		}
	}
	if column.NullN() > 0 {
		chunk.WriteBatchSpaced(values, definition, nil, column.NullBitmapBytes(), int64(column.Data().Offset()))
		return nil
	}
	_, err := chunk.WriteBatch(values, definition, nil)
	return err
}

// writeLists writes lists that are not null, not empty and hold no null. All definition
// levels are the highest, 3. The repetition level is 0 at the begin of a list, 1 elsewhere.
func writeLists(chunk *file.Float64ColumnChunkWriter, lists *array.List) error {
	if lists.Len() == 0 {
		return nil
	}
	first, _ := lists.ValueOffsets(0)
	_, last := lists.ValueOffsets(lists.Len() - 1)
	definition, repetition := slices.Repeat([]int16{3}, int(last-first)), slices.Repeat([]int16{1}, int(last-first))
	for i := range lists.Len() {
		from, to := lists.ValueOffsets(i)
		if from == to || lists.IsNull(i) {
			return fmt.Errorf("list %d is empty", i)
		}
		repetition[from-first] = 0
	}
	_, err := chunk.WriteBatch(lists.ListValues().(*array.Float64).Float64Values()[first:last], definition, repetition)
	return err
}
