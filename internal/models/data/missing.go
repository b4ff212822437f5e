package data

import (
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// The rules for missing values.
const (
	MissingReject = "reject" // the record contributes zero; q and N unchanged
	MissingImpute = "impute" // a declared constant takes its place
	MissingModel  = "model"  // the missing value is part of the model
)

// Missing is the rule for a record in which a column has no value.
type Missing struct {
	At        expr.Position
	Rule      string               // one of the above; "" when the file is silent: reject
	Impute    source.Value[string] // a number in the unit of the file, or a level
	Indicator source.Value[bool]   // add the 0/1 column NAME_missing
}

// ImputeNumber is the imputed number of a numeric column.
func (c *Column) ImputeNumber() float64 { return c.Number(c.Missing.Impute.V) }

// IndicatorSuffix makes the name of a missing-value indicator: bmi_missing.
const IndicatorSuffix = "_missing"

// MissingOf is the rule of a column: its own, else the default of the block,
// else reject.
func (d *Data) MissingOf(c *Column) Missing {
	switch {
	case c.Missing.Rule != "":
		return c.Missing
	case d.Missing.Rule != "":
		return d.Missing
	}
	return Missing{Rule: MissingReject}
}
