package models

import (
	"d3p/internal/models/graph"
	"d3p/internal/models/spec"
)

// inStepFrom is the public number of units from which the table has no derived columns:
// the designs of linear predictors, in coordinates of work or not, are computed of the
// encoded columns in each step that reads a record. A default fit reads each of so many
// records about 10 times, so that computing them once saves little, and the table is
// several times smaller.
const inStepFrom = 10_000_000

// inStep reports whether the tapes of records leave nothing to derive.
func inStep(s *spec.Spec) bool { return s.Data.Rows.N() >= inStepFrom }

// likelihoodTape compiles a loss of the records of a table.
func (c *compiler) likelihoodTape(b *graph.Builder, loss *graph.Node, columns int) (*graph.Tape, error) {
	return graph.Compile(b, loss, nil, graph.Options{Columns: columns, InStep: inStep(c.spec)})
}
