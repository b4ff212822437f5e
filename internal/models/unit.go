package models

import (
	"maps"

	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
)

// read is an encoded column of the row that the rows block reads.
func (g *build) read(place int) *graph.Node { return g.b.Column(g.block + place) }

// unit is log p(record | θ) of a unit: Σ over its rows of log p(row | θ). The
// rows block is lowered once for every row that a unit may have, each time with
// the columns of another block of the record; what depends on parameters alone
// is the same node in all. A row that is not there counts as zero, in value and
// gradient. The gradient of a record, which is what is clipped, is then that of
// a unit. See Encoding.Width.
func (g *build) unit(e encoding.Encoding) *graph.Node {
	g.guided, g.training = true, true
	if e.RowsPerUnit <= 1 {
		g.rows()
		return g.logLikelihood(nil)
	}
	terms := make([]*graph.Node, 0, e.RowsPerUnit)
	global := g.env
	for i := range e.RowsPerUnit {
		env := *global
		env.Design, env.Coefficients = maps.Clone(global.Design), maps.Clone(global.Coefficients)
		g.env, g.block = &env, i*(e.K+1)
		g.rows()
		terms = append(terms, g.b.Where(g.read(e.K), g.logLikelihood(nil), g.b.Const(0)))
	}
	return g.b.AddAll(terms...)
}
