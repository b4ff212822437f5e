package privacy

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/internal/records/tablefile"
)

// DataCheck counts the effects of the declared rules on records: the cells of each column
// that are missing, do not parse, are out of bounds or have no declared level, and the
// malformed rows. It is for the custodian of the records: it is not protected.
type DataCheck = records.Check

// DataCheck reads the records and counts the effects of the declared rules on them.
// Errors are about the file only.
func (t *Table) DataCheck() (*DataCheck, error) {
	_, check, err := t.read()
	if err != nil {
		return nil, err
	}
	check.Privacy = records.NotProtected
	return &check, nil
}

// ReadNewRows reads and encodes rows that the caller may see and that no fit protects:
// rows to predict for. They never reach a Curator, and an error may name a line. The
// format follows from the name of the file. The check counts the reasons why rows are
// unusable.
func ReadNewRows(path string, e encoding.Encoding) (*Rows, *DataCheck, error) {
	e.Format = ""
	files, err := records.Files(path)
	if err != nil {
		return nil, nil, err
	}
	rows, check, err := records.Read(path, files, e, records.Options{})
	if bad := check.Malformed; err == nil && bad != nil {
		return nil, nil, &tablefile.FileError{File: path, Problem: bad.Problem, Hint: fmt.Sprintf("line %d", bad.Line)}
	}
	if err == nil {
		rows.ToHeap()
	}
	return rows, &check, err
}

// DataFiles are the files of a user's data argument, in order: data itself; the data files
// below a folder; those that match a pattern such as claims/*.parquet; those in a list
// @LIST, one path per line.
func DataFiles(data string) ([]string, error) { return records.Files(data) }

// Partitions are the columns that the names of a data file's folders give, as year=2020.
func Partitions(file string) []string { return records.Partitions(file) }

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

// HeadAdvice is what to do about a first line that names no columns as CSV does; "" where it shows no reason.
func HeadAdvice(line []byte) string { return tablefile.HeadAdvice(line) }

// UTF16 is the encoding of a line of text that has zero bytes as UTF-16 has; "" for other text.
func UTF16(line []byte) string { return tablefile.UTF16(line) }

// NoNames reports whether a first line is blank or Excel's note of the separator.
func NoNames(line []byte) bool { return tablefile.NoNames(line) }

// Text gives the text of a CSV file as a fit reads it: decompressed, and in UTF-8 of
// one of spec.Encodings; see records.Text.
func Text(path string, file io.Reader, encoding string) (io.Reader, error) {
	return tablefile.Text(path, file, encoding)
}
