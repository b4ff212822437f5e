// Package source holds the parts that all blocks of a model file share: values with their
// place in the file, and the list of mistakes.
package source

import (
	"strconv"
	"strings"

	"d3p/internal/models/expr"
)

// Value is a value of the model file with its place. A Value that the file does not
// mention has the zero Position: its V is the default.
type Value[T any] struct {
	V  T
	At expr.Position
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

// Right returns the position n characters further on the same line.
func Right(p expr.Position, n int) expr.Position {
	p.Column += n
	return p
}

// IsName reports whether s can be written as a name in an expression.
func IsName(s string) bool {
	e, errs := expr.Parse(s, expr.Position{})
	if len(errs) > 0 {
		return false
	}
	n, ok := e.(*expr.Name)
	return ok && n.ID == s
}

// FormatNumber prints x in the shortest form that reads back as x, with a point
// before an exponent, without which YAML takes it for text.
func FormatNumber(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok && !strings.Contains(mantissa, ".") {
		return mantissa + ".0e" + exponent
	}
	return s
}
