package spec

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/source"
	"d3p/internal/models/twin"
)

// Position is a place in a model file; Error and Errors are its mistakes.
type (
	Position     = expr.Position
	Error        = expr.Error
	Errors       = expr.Errors
	Value[T any] = source.Value[T]
)

// The declaration of the table, see package data.
type (
	Data    = data.Data
	Unit    = data.Unit
	Rows    = data.Rows
	Column  = data.Column
	Missing = data.Missing
	Tensor  = data.Tensor
	Table   = data.Table
	Factor  = data.Factor
)

// The ways to describe the model, see packages core, formula and twin.
type (
	Core       = core.Core
	Dim        = core.Dim
	Definition = core.Definition
	Constraint = core.Constraint
	Model      = formula.Model
	Twin       = twin.Twin
)
