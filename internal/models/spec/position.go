package spec

import (
	"slices"

	"d3p/internal/models/expr"
)

// Position is a place in a model file; Error and Errors are its mistakes.
type (
	Position = expr.Position
	Error    = expr.Error
	Errors   = expr.Errors
)

// Value is a value of the model file and the place where it stands. A Value
// that the file does not mention has the zero Position: its V is the default.
type Value[T any] struct {
	V  T
	At Position
}

// IsSet reports whether the file states the value.
func (v Value[T]) IsSet() bool { return v.At.Line > 0 }

// Or returns the stated value, or def when the file is silent.
func (v Value[T]) Or(def T) T {
	if v.IsSet() {
		return v.V
	}
	return def
}

// right returns the position n characters further on the same line.
func right(p Position, n int) Position {
	p.Column += n
	return p
}

// problems collects mistakes while a file is read and checked.
type problems struct{ list Errors }

// add records a mistake at a position; hint may be empty.
func (p *problems) add(at Position, hint, format string, args ...any) {
	p.list.Add(at, hint, format, args...)
}

// sorted returns the mistakes by position, without repetitions.
func (p *problems) sorted() Errors {
	p.list.Sort()
	return slices.CompactFunc(p.list, func(a, b *Error) bool { return *a == *b })
}
