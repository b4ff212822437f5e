package spec

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/expr"
)

// Core is a model in the core language: named dims, global parameters with
// priors, deterministic expressions, and what happens in one row.
type Core struct {
	At      Position
	Dims    []*Dim
	Params  []*Definition // name: prior(args) [dim, ...]
	Let     []*Definition // expressions of parameters
	Latent  []*Definition // name: normal(mean, sd) [dim, ...], one draw per record
	RowsLet []*Definition // expressions of parameters and of the row's columns
	Observe []*Definition // column (or dim of columns): distribution
	// Constraints are met by every record of a synthetic table.
	Constraints []*Constraint
}

// Dim is a named size: labels, a number, or the levels of a column.
type Dim struct {
	Name   Value[string]
	Labels []Value[string] // of a list
	Size   Value[int]      // of a plain number; its labels are 1..Size
	Of     Value[string]   // of levels(column): the column
}

// core reads `core:`.
func (r *reader) core(e entry) *Core {
	c := &Core{At: e.at}
	r.object(e.node, "core", fields{
		"dims":        func(e entry) { c.Dims = r.dims(e) },
		"params":      func(e entry) { c.Params = r.definitions(e) },
		"let":         func(e entry) { c.Let = r.definitions(e) },
		"rows":        func(e entry) { r.coreRows(e, c) },
		"constraints": func(e entry) { c.Constraints = r.constraints(e) },
	})
	return c
}

// coreRows reads the block of one row.
func (r *reader) coreRows(e entry, c *Core) {
	r.object(e.node, "rows", fields{
		"let":     func(e entry) { c.RowsLet = r.definitions(e) },
		"observe": func(e entry) { c.Observe = r.definitions(e) },
		"latent":  func(e entry) { c.Latent = r.definitions(e) },
	})
}

// dims reads `dims:`.
func (r *reader) dims(e entry) []*Dim {
	list, ok := r.entries(e.node, "dims")
	if !ok {
		return nil
	}
	var dims []*Dim
	for _, e := range list {
		if e.node == nil {
			continue
		}
		d := &Dim{Name: Value[string]{e.key, e.at}}
		if _, ok := e.node.(*ast.SequenceNode); ok {
			d.Labels = r.texts(e)
			r.unique("label", d.Labels)
			if len(d.Labels) == 0 {
				r.add(e.at, "", "dim %s has no labels", e.key)
			}
		} else if v := r.text(e); v.IsSet() {
			r.dimSize(v, d)
		}
		dims = append(dims, d)
	}
	return dims
}

// dimSize reads a number or levels(column).
func (r *reader) dimSize(v Value[string], d *Dim) {
	if n, err := strconv.Atoi(v.V); err == nil {
		if n < 1 {
			r.add(v.At, "", "dim %s must have at least one element, not %d", d.Name.V, n)
		}
		d.Size = Value[int]{n, v.At}
		return
	}
	if e, errs := expr.Parse(v.V, v.At); len(errs) == 0 {
		if c, ok := e.(*expr.Call); ok && c.Func == "levels" && len(c.Args) == 1 {
			if n, ok := c.Args[0].Value.(*expr.Name); ok {
				d.Of = Value[string]{n.ID, n.At}
				return
			}
		}
	}
	r.add(v.At, "write a list of labels, a number, or levels(column)", "dim %s cannot be %s", d.Name.V, strings.TrimSpace(v.V))
}
