package privacy

import (
	"io"

	"d3p/internal/privacy/internal/records/tablefile"
)

// Separator returns what stands between the fields of CSV text that starts with this
// header line; see records.Separator.
func Separator(header []byte) byte { return tablefile.Separator(header) }

// Text gives the text of a CSV file as a fit reads it: decompressed, and in UTF-8 of
// one of spec.Encodings; see records.Text.
func Text(path string, file io.Reader, encoding string) (io.Reader, error) {
	return tablefile.Text(path, file, encoding)
}
