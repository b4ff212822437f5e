package tablefile

import (
	"fmt"
	"strings"
)

// FileError is a mistake in the structure of the data file, or a difference from the model
// file's declarations. It never holds a cell's content or a line number, because the place
// of a malformed line depends on a record. The Check has that detail.
type FileError struct {
	File    string
	Column  string // empty for the whole file
	Problem string
	Hint    string // advice; may be empty
}

// Error formats as file: column name: problem (hint).
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %s", e.Column)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}
