// Package core is a model in the core language. Formulas and twins are lowered to it.
package core

import (
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Core is a model in the core language: named dims, global parameters with
// priors, deterministic expressions, and the
// law of one row.
type Core struct {
	At      expr.Position
	Dims    []*Dim
	Params  []*Definition // name: prior(args) [dim, ...]
	Let     []*Definition // expressions of parameters
	Latent  []*Definition // name: normal(mean, sd) [dim, ...], one draw per record
	RowsLet []*Definition // expressions of parameters and of the row's columns
	Observe []*Definition // column (or dim of columns): distribution
	// Predictors are the linear predictors among RowsLet.
	Predictors []*Predictor
	// Constraints are conditions that every record of a synthetic table meets.
	Constraints []*Constraint
}

// Dim is a named size: labels, a number, or the levels of a column.
type Dim struct {
	Name   source.Value[string]
	Labels []source.Value[string] // of a list
	Size   source.Value[int]      // of a plain number; its labels are 1..Size
	Of     source.Value[string]   // of levels(column): the column
}

// Predictor is a linear predictor Level + columns(Dim) @ Coefficients. Level is ""
// without a level. With Cuts the level is cutpoints, which are subtracted.
type Predictor struct {
	Level, Coefficients, Dim string
	Cuts                     bool
}

// Definition is a named expression of the model file.
type Definition struct {
	Name source.Value[string]
	Text source.Value[string]
	Expr expr.Expr // the parsed Text; nil when it has mistakes
}

// Parsed reports whether every expression of the core blocks could be read.
func (c *Core) Parsed() bool {
	for _, list := range [][]*Definition{c.Params, c.Let, c.Latent, c.RowsLet, c.Observe} {
		for _, d := range list {
			if d.Expr == nil {
				return false
			}
		}
	}
	return true
}

// Constraint is a condition that every record of a synthetic table meets: an
// expression of columns in the unit of the file and of the names of levels.
type Constraint struct {
	Text source.Value[string]
	Expr expr.Expr // the parsed Text; nil when it has mistakes
}

// UsedBy collects what core blocks mention: names, and the columns that the
// labels of dims stand for.
func (c *Core) UsedBy(d *data.Data) map[string]bool {
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
