package spec

import "d3p/internal/models/expr"

// unused warns of columns that the model does not mention.
func (b *blocks) unused(used map[string]bool) {
	for _, c := range b.spec.Data.Columns {
		if !used[c.Name.V] && c.Name.V != b.spec.Data.Weights.V {
			b.spec.Warnings.Add(c.Name.At, "list it under drop, or leave it", "nothing uses column %s", c.Name.V)
		}
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
