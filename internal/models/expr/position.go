package expr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a model file. Line and Column count from 1, columns
// in characters. The zero Position means that the place is unknown.
type Position struct {
	File         string
	Line, Column int
}

// String prints file:line:column, without the parts that are unknown.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error is one mistake in a model file: its place, its description, and the next step.
type Error struct {
	Position
	Message string
	Hint    string // shown in brackets; may be empty
}

// Error prints "file:line:column: message (hint)".
func (e *Error) Error() string {
	text := e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if place := e.Position.String(); place != "" {
		return place + ": " + text
	}
	return text
}

// Errors are all mistakes found in one text, in the order of their places once
// sorted. A nil Errors means that there was none.
type Errors []*Error

// Error prints one mistake per line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single mistakes to errors.Is and errors.As.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Err is es as an error: nil when there is no mistake.
func (es Errors) Err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}

// Add appends a mistake at a place; hint may be empty.
func (es *Errors) Add(at Position, hint, format string, args ...any) {
	*es = append(*es, &Error{Position: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// Sort orders the mistakes by file, line and column.
func (es Errors) Sort() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
