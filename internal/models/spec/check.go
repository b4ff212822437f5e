package spec

import (
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/twin"
)

// check reports what is wrong between the blocks.
func (b *blocks) check() {
	s := b.spec
	top := expr.Position{File: s.File, Line: 1, Column: 1}
	if !b.has("data") {
		b.Add(top, "", "the model file has no data block")
	}
	switch {
	case s.Model != nil && s.Core != nil:
		b.Add(s.Core.At, "keep one: `d3p render` turns a model into core blocks", "model and core both describe the model")
	case s.fronts() > 1:
		b.Add(s.Twin.At, "keep one: `d3p render --core` turns each into core blocks", "the file also has model or core, which describe the model, too")
	case s.Model == nil && s.Core == nil && !b.has("model") && !b.has("core") && !b.has("twin"):
		b.Add(top, "add `model:` with a formula", "the model file has no model block")
	}
	b.checkSettings()
	b.checkNames()
	if s.Model != nil && len(s.Data.Columns) > 0 {
		formula.Check(b.checker(), s.Model)
	} else if s.Core != nil {
		b.checker().Unused(s.Core.UsedBy(&s.Data))
	} else if s.Twin != nil {
		twin.Check(b.checker(), s.Twin)
	}
}

// checker is what the checks of a model need of the file.
func (b *blocks) checker() *data.Checker {
	return &data.Checker{Problems: b.Problems, Data: &b.spec.Data, Warnings: &b.spec.Warnings}
}

// checkNames reports columns that share a name with a header of another one.
func (b *blocks) checkNames() {
	d := &b.spec.Data
	headers := make(map[string]*data.Column)
	for _, c := range d.Columns {
		if other := headers[c.HeaderName()]; other != nil {
			b.Add(c.Name.At, "", "columns %s and %s read the same header", other.Name.V, c.Name.V)
		}
		headers[c.HeaderName()] = c
	}
	if id := d.Unit.ID; id.IsSet() {
		if headers[id.V] != nil {
			b.Add(id.At, "leave it out of columns", "the unit's id %s must not be a column of the model", id.V)
		}
		for _, c := range d.Drop {
			if c.V == id.V {
				b.Add(c.At, "leave it out of drop: the model sees no ids", "column %s is dropped, but it names the unit", c.V)
			}
		}
	}
}
