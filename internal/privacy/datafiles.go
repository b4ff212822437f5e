package privacy

import (
	"io"
	"path/filepath"
	"strings"

	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/internal/records/tablefile"
)

// DataFiles are the files of a user's data argument, in order: data itself; the data files
// below a folder; those that match a pattern such as claims/*.parquet; those in a list
// @LIST, one path per line.
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

// Separator returns the separator of CSV text with this header line; see records.Separator.
func Separator(header []byte) byte { return tablefile.Separator(header) }

// Text gives the text of a CSV file as a fit reads it: decompressed, and in UTF-8 of
// one of spec.Encodings; see records.Text.
func Text(path string, file io.Reader, encoding string) (io.Reader, error) {
	return tablefile.Text(path, file, encoding)
}
