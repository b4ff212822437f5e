package source

import (
	"slices"

	"d3p/internal/models/expr"
)

// Problems collects mistakes while a file is read and checked.
type Problems struct{ List expr.Errors }

// Add records a mistake at a position; hint may be empty.
func (p *Problems) Add(at expr.Position, hint, format string, args ...any) {
	p.List.Add(at, hint, format, args...)
}

// Sorted returns the mistakes by position, without repetitions.
func (p *Problems) Sorted() expr.Errors {
	p.List.Sort()
	return slices.CompactFunc(p.List, func(a, b *expr.Error) bool { return *a == *b })
}

// ParseExpr parses a text of the model file as an expression.
func ParseExpr(text Value[string], p *Problems) expr.Expr {
	e, errs := expr.Parse(text.V, text.At)
	p.List = append(p.List, errs...)
	return e
}
