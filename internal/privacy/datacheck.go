package privacy

import (
	"errors"
	"fmt"
	"io"

	"d3p/internal/models"
	"d3p/internal/privacy/internal/records"
)

// WriteDataCheck reads the records and writes to w, as JSON, what the declared rules
// do to them: how many cells of each column are missing, do not parse, are out of
// bounds or of no declared level. It is for whoever holds the records: nothing in it
// is protected, and w must be as private as the data. Errors are about the file
// alone; on which line it is malformed stands in what is written to w. Of a file that
// was not read for another reason nothing is.
func (t *Table) WriteDataCheck(w io.Writer) error {
	_, check, err := t.read()
	if err != nil && check.Problem == nil {
		return err
	}
	return errors.Join(locate(err, check, "the line number is in the data check"), check.Write(w))
}

// ReadNewRows reads and encodes rows that the caller may see and that no fit
// protects: rows to predict for. They never reach a Curator, and an error may say
// which line it means.
func ReadNewRows(path string, e models.Encoding) (*Rows, error) {
	rows, check, err := records.Read(path, e, records.Options{})
	if check.Problem != nil {
		err = locate(err, check, fmt.Sprintf("line %d", check.Problem.Line))
	}
	return rows, err
}

// locate adds to the error about a malformed line where its number is found.
func locate(err error, check records.Check, hint string) error {
	var bad *records.FileError
	if check.Problem == nil || !errors.As(err, &bad) {
		return err
	}
	located := *bad
	located.Hint = hint
	return &located
}
