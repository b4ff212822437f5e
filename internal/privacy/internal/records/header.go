package records

import (
	"fmt"
	"slices"
	"strings"

	"d3p/internal/privacy/internal/records/tablefile"
	"d3p/internal/spell"
)

// match finds the raw columns in the header of file; the column of ids, if there is one,
// comes last. A column that the header lacks may be one of partitions: its place is -1. It
// reports mistakes, also of columns of beside, each with the nearest name, at most mostMistakes: an
// image has thousands of columns.
func (e *encoder) match(file string, header []string) (at []int, errs []error) {
	read := e.names()
	names := slices.Concat(read, e.beside)
	at = make([]int, len(read))
	places, twice := make(map[string]int, len(header)), make(map[string]bool)
	for i, h := range header {
		if _, seen := places[h]; seen {
			twice[h] = true
			continue
		}
		places[h] = i
	}
	e.partitions = make([][]byte, len(e.columns))
	for i, name := range names {
		first, found := places[name]
		id := e.units != nil && i == len(e.columns)
		if !found && !id {
			if cell, ok := partition(file, name); ok {
				if i < len(read) {
					at[i], e.partitions[i] = -1, cell
				}
				continue
			}
		}
		switch {
		case !found:
			errs = append(errs, &tablefile.FileError{File: file, Column: name, Problem: "not in the header of the file", Hint: hint(name, names, header, id)})
		case twice[name]:
			errs = append(errs, &tablefile.FileError{File: file, Column: name, Problem: "named twice in the header of the file", Hint: "rename one of the two"})
		case i < len(read):
			at[i] = first
		}
	}
	if more := len(errs) - mostMistakes; more > 0 {
		errs[mostMistakes] = &tablefile.FileError{File: file, Problem: fmt.Sprintf("%d more such columns", more)}
		errs = errs[:mostMistakes+1]
	}
	return at, errs
}

// mostMistakes is the number of columns of a file that an error names.
const mostMistakes = 10

// hint names the place of the column that the user probably meant, never its text: the first line
// may be a record. A first column without name holds the row numbers that R and pandas write, and
// empty ones at the end follow from separators at the end of lines.
func hint(name string, names, header []string, id bool) string {
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	for i, h := range header {
		if _, number := parseNumber([]byte(strings.TrimSpace(h))); number || h == "" && i > 0 {
			return "the first line must name the columns"
		}
	}
	known := func(h string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, h) })
	}
	if !slices.ContainsFunc(header, known) {
		return "the header must name the columns as the model file does"
	}
	near := spell.Name(name, header)
	place := slices.Index(header, near) + 1
	key := "as `header:` of the column"
	if id {
		key = "as the unit's `id:`"
	}
	switch {
	case near == "":
		return "names must agree with the model file"
	case strings.EqualFold(near, name):
		return fmt.Sprintf("column %d there has this name in other case: write that %s", place, key)
	}
	return fmt.Sprintf("column %d there has a similar name: write that %s", place, key)
}
