package tablefile

import (
	"fmt"
	"strings"
)

// FileError is a mistake in the structure of the data file, or a difference from the
// model file's declarations. It never holds a cell's content or a line number: the place
// of a malformed line depends on a record. That detail goes to the Check.
type FileError struct {
	File    string
	Column  string // empty when the whole file is meant
	Problem string
	Hint    string // what to do next; may be empty
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
