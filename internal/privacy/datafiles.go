package privacy

import (
	"io"
	"path/filepath"
	"strings"

	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/internal/records/tablefile"
)

// DataFiles are the files of the table that a user calls data, in order: data itself; the
// data files below a folder; those that match a pattern such as claims/*.parquet; those
// that @LIST names, a path in each line.
func DataFiles(data string) ([]string, error) { return records.Files(data) }

// AbsoluteData is data with an absolute path.
func AbsoluteData(data string) (string, error) {
	list, isList := strings.CutPrefix(data, "@")
	path, err := filepath.Abs(list)
	if isList {
		path = "@" + path
	}
	return path, err
}

// Separator returns what stands between the fields of CSV text that starts with this
// header line; see records.Separator.
func Separator(header []byte) byte { return tablefile.Separator(header) }

// Text gives the text of a CSV file as a fit reads it: decompressed, and in UTF-8 of
// one of spec.Encodings; see records.Text.
func Text(path string, file io.Reader, encoding string) (io.Reader, error) {
	return tablefile.Text(path, file, encoding)
}
