package models

import (
	"errors"

	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
)

// DensityTape compiles the likelihood so that the sum of all records' gradients contains
// the log likelihood. It has two parameters after θ, a weight w and a count u, and the loss
// of a record is
//
//	w·log p(record | θ) + u.
//
// At w = 1 the gradient is ∂ log p(record | θ)/∂θ, then log p(record | θ), then 1. A record
// whose gradient is not finite counts as zero in all of them, which the sum over u shows.
// It is for fits without privacy: nothing bounds log p.
//
// The error is the reason if the log likelihood cannot be summed: the model has latents for
// every record, or a guide that reads the records.
func (m *Model) DensityTape() (*graph.Tape, error) {
	if m.Likelihood.AuxRecord > 0 || m.Likelihood.AuxGlobal > 0 {
		return nil, errors.New("the likelihood of a record is itself estimated from random draws (local latents, or layers with noise)")
	}
	c := newCompiler(m.Spec, m.Core)
	c.coordinates = m.coordinates
	c.dimensions()
	c.parameters()
	g := c.build()
	weight, count := g.b.Param("(weight)", nil), g.b.Param("(count)", nil)
	g.loss = g.b.Add(g.b.Mul(weight, g.unit(m.Encoding)), count)
	if len(c.errs) > 0 {
		return nil, c.sorted()
	}
	return c.likelihoodTape(g.b, g.loss, m.Encoding.Width())
}

// ScoreRange is the length of the interval that contains the score of a unit for any rows
// and parameters. It is the price of a draw of the posterior. The error is the reason if
// nothing bounds the score.
func (m *Model) ScoreRange() (float64, error) {
	l := &m.Spec.Likelihood
	switch {
	case !l.IsBeta():
		return 0, errors.New("a log likelihood has no bound: add `likelihood: {divergence: beta}` to the model file")
	case l.Weight.IsSet():
		return 0, errors.New("the weight follows from epsilon: remove gibbs from likelihood")
	case m.Spec.Data.Weights.IsSet():
		return 0, errors.New("the weights of rows have no bound: remove weights from data")
	}
	c := newCompiler(m.Spec, m.Core)
	c.dimensions()
	c.parameters()
	g := c.build()
	g.rows()
	row, err := dist.BetaRange(g.density(m.Core.Observe[0]), l.Beta.Or(core.DefaultBeta))
	return row * float64(max(1, m.Encoding.RowsPerUnit)), err
}
