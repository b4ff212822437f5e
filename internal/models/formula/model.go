package formula

import (
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Model is the formula front end: a generalised linear model in one line.
type Model struct {
	At              expr.Position
	Formula         source.Value[string]
	Terms           *Formula // the parsed formula; nil when it has mistakes
	Family          source.Value[string]
	Link            source.Value[string]
	Parametrisation source.Value[string] // of group effects: non_centred (default) or centred
	Priors          []*core.Definition   // by parameter: Intercept, b, b[age], sd, sigma
	GroupFormulas   []*GroupFormula
	Predicted       []*Predicted            // parameters of the family that have a formula
	Cuts            []source.Value[float64] // for piecewise_exponential: the times at which the hazard changes, in the unit of the file
}

// GroupFormula is the dependence of a group's effects on its public table: `hospital: 1 +
// beds + teaching`.
type GroupFormula struct {
	Group source.Value[string]
	Text  source.Value[string]
	Terms []Term
}
