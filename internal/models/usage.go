package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
)

// usage records how the expressions of a row read the columns, so that only these are
// encoded.
type usage struct {
	named  map[string]bool // by its name: a number on its scale, a category's code
	raw    map[string]bool // raw(name)
	dims   map[string]bool // columns(dim)
	labels map[string]bool // column('label')
}

func newUsage() usage {
	return usage{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// usageOf reads the rows block.
func usageOf(c *core.Core) usage {
	u := newUsage()
	for _, list := range [][]*core.Definition{c.Latent, c.RowsLet, c.Observe} {
		for _, d := range list {
			if d.Expr != nil {
				expr.Walk(d.Expr, u.visit)
			}
		}
	}
	return u
}

// visit notes one node of an expression and reports whether to look below it.
func (u usage) visit(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Name:
		u.named[e.ID] = true
	case *expr.Call:
		if column, ok := e.LengthColumn(); ok {
			u.raw[column.ID] = true
			expr.Walk(e.Args[0].Value, u.visit)
			return false
		}
		if len(e.Args) != 1 {
			return true
		}
		switch arg := e.Args[0].Value.(type) {
		case *expr.Name:
			switch e.Func {
			case "raw":
				u.raw[arg.ID] = true
				return false
			case "columns":
				u.dims[arg.ID] = true
				return false
			}
		case *expr.Text:
			if e.Func == "column" {
				u.labels[arg.Value] = true
			}
		}
	}
	return true
}
