package tablefile

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// rowGroup is the most rows of a group of a Parquet file.
const rowGroup = 128 << 10

// WriteRecord writes one Arrow record as a Parquet file, compressed by zstd, with
// its Arrow schema, so that the metadata of fields survive. Dictionaries save
// space where values repeat; draws hardly ever do.
func WriteRecord(w io.Writer, record arrow.Record, dictionaries bool) error {
	out, err := pqarrow.NewFileWriter(record.Schema(), notClosed{w},
		parquet.NewWriterProperties(
			parquet.WithCompression(compress.Codecs.Zstd),
			parquet.WithMaxRowGroupLength(rowGroup),
			parquet.WithDictionaryDefault(dictionaries),
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
