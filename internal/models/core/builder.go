package core

import (
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Builder assembles a model in the core language.
type Builder struct {
	*source.Problems
	Data *data.Data
	Core *Core
}

// NewBuilder starts a model at this place of the model file.
func NewBuilder(at expr.Position, d *data.Data) *Builder {
	return &Builder{Problems: &source.Problems{}, Data: d, Core: &Core{At: at}}
}

// AddDim adds a dim.
func (b *Builder) AddDim(d *Dim) { b.Core.Dims = append(b.Core.Dims, d) }

// Param adds a parameter with its prior.
func (b *Builder) Param(name string, prior source.Value[string], dims string) {
	prior.V += dims
	b.Define(&b.Core.Params, name, prior)
}

// Define adds a named expression.
func (b *Builder) Define(list *[]*Definition, name string, text source.Value[string]) {
	e := source.ParseExpr(text, b.Problems)
	if e != nil {
		text.V = e.String()
	}
	*list = append(*list, &Definition{Name: source.Value[string]{V: name, At: text.At}, Text: text, Expr: e})
}

// CheckClashes reports columns that have names which the lowered model needs.
func (b *Builder) CheckClashes() {
	taken := make(map[string]string)
	for _, d := range b.Core.Params {
		taken[d.Name.V] = "parameter"
	}
	for _, d := range append(b.Core.Let, b.Core.RowsLet...) {
		taken[d.Name.V] = "quantity"
	}
	for _, d := range b.Core.Dims {
		if !d.Of.IsSet() {
			taken[d.Name.V] = "dim"
		}
	}
	for _, c := range b.Data.Columns {
		if what := taken[c.Name.V]; what != "" {
			b.Add(c.Name.At, "give the column another name and keep this one as `header: "+c.HeaderName()+"`", "column %s has the name of a %s of the model", c.Name.V, what)
		}
	}
}
