package spec

import (
	"fmt"
	"strings"

	"d3p/internal/models/expr"
)

// unusedShown is how many columns the warning of unused ones names.
const unusedShown = 6

// unused warns, once and at the first of them, of columns that the model does not
// mention.
func (b *blocks) unused(used map[string]bool) {
	var names []string
	var at Position
	for _, c := range b.spec.Data.Columns {
		if !used[c.Name.V] && c.Name.V != b.spec.Data.Weights.V {
			if names == nil {
				at = c.Name.At
			}
			names = append(names, c.Name.V)
		}
	}
	switch n := len(names); {
	case n == 1:
		b.spec.Warnings.Add(at, "list it under drop, or leave it", "nothing uses column %s", names[0])
	case n > 1:
		list := strings.Join(names[:min(n, unusedShown)], ", ")
		if n > unusedShown {
			list += fmt.Sprintf(" and %d more", n-unusedShown)
		}
		b.spec.Warnings.Add(at, "list them under drop, or leave them", "nothing uses columns %s", list)
	}
}

// usedBy collects the columns that a formula mentions.
func (f *Formula) usedBy() map[string]bool {
	used := make(map[string]bool)
	for _, name := range f.columnsOf() {
		used[name.V] = true
	}
	return used
}

// usedBy collects what core blocks mention: names, and the columns that the
// labels of dims stand for.
func (c *Core) usedBy(d *Data) map[string]bool {
	used := make(map[string]bool)
	for _, list := range [][]*Definition{c.Params, c.Let, c.Latent, c.RowsLet, c.Observe} {
		for _, definition := range list {
			used[definition.Name.V] = true
			if definition.Expr == nil {
				continue
			}
			for _, name := range expr.Names(definition.Expr) {
				used[name] = true
			}
		}
	}
	for _, dim := range c.Dims {
		used[dim.Of.V] = true
		for _, label := range dim.Labels {
			factors, _ := d.Factors(label.V)
			for _, f := range factors {
				used[f.Column.Name.V] = true
			}
		}
	}
	return used
}
