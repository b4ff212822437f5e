package data

import (
	"fmt"
	"slices"
	"strings"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// Checker reports contradictions between the declaration of a table and a model of it.
type Checker struct {
	*source.Problems
	Data     *Data
	Warnings *expr.Errors
}

// Undeclared reports a column that the data block does not declare.
func (b *Checker) Undeclared(name source.Value[string]) {
	d := b.Data
	if name.V == d.Unit.ID.V {
		b.Add(name.At, "leave it out", "column %s names the units, and no unit has an effect of its own", name.V)
		return
	}
	for _, c := range d.Drop {
		if c.V == name.V {
			b.Add(name.At, "declare it under columns instead", "column %s is dropped on line %d", name.V, c.At.Line)
			return
		}
	}
	b.Add(name.At, spell.Suggest(name.V, "columns", d.ColumnNames()), "undeclared column %s", name.V)
}

// listed is the number of columns that a warning names.
const listed = 6

// Listed names columns; of many the first ones.
func Listed(columns []*Column) string {
	var names []string
	for _, c := range columns[:min(len(columns), listed)] {
		names = append(names, c.Name.V)
	}
	list := strings.Join(names, ", ")
	if n := len(columns) - listed; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return list
}

// Used warns of declarations that contradict what the model reads: the names of columns in used.
func (b *Checker) Used(used map[string]bool) {
	b.unused(used)
	for _, token := range b.Data.MissingTokens {
		var columns []*Column
		for _, c := range b.Data.Columns {
			if x := c.Number(token.V); c.Numeric() && (used[c.Name.V] || c.Name.V == b.Data.Weights.V) && c.Lower.V <= x && x <= c.Upper.V {
				columns = append(columns, c)
			}
		}
		if len(columns) > 0 {
			b.Warnings.Add(token.At, "give a code to its own columns, as in `bmi: {type: real, lower: 10, upper: 80, missing_tokens: [99]}`",
				"%s is a possible value of %s, and counts as missing there", token.V, Listed(columns))
		}
	}
}

// unused warns, once and at the first of them, of columns that the model does not
// mention.
func (b *Checker) unused(used map[string]bool) {
	var columns []*Column
	for _, c := range slices.Backward(b.Data.Derived) { // a later one may use earlier ones
		if !used[c.Name.V] {
			b.Warnings.Add(c.Name.At, "remove it", "nothing uses derived column %s", c.Name.V)
		}
		for _, name := range expr.Names(c.Derive.Expr) {
			used[name] = true
		}
	}
	for _, c := range b.Data.Columns {
		if !used[c.Name.V] && c.Name.V != b.Data.Weights.V {
			columns = append(columns, c)
		}
	}
	switch n := len(columns); {
	case n == 1:
		b.Warnings.Add(columns[0].Name.At, "list it under drop, or leave it", "nothing uses column %s", Listed(columns))
	case n > 1:
		b.Warnings.Add(columns[0].Name.At, "list them under drop, or leave them", "nothing uses columns %s", Listed(columns))
	}
}
