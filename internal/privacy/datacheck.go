package privacy

import (
	"fmt"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/internal/records/tablefile"
)

// DataCheck counts what the declared rules do to records: how many cells of each column
// are missing, do not parse, are out of bounds or of no declared level, and how many
// rows are malformed. It is for whoever holds the records: nothing in it is protected.
type DataCheck = records.Check

// DataCheck reads the records and counts what the declared rules do to them. Errors are
// about the file alone.
func (t *Table) DataCheck() (*DataCheck, error) {
	_, check, err := t.read()
	if err != nil {
		return nil, err
	}
	check.Privacy = records.NotProtected
	return &check, nil
}

// ReadNewRows reads and encodes rows that the caller may see and that no fit
// protects: rows to predict for. They never reach a Curator, and an error may say
// which line it means. The name of the file says what it is. The check counts what made
// rows unusable.
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
	return rows, &check, err
}
