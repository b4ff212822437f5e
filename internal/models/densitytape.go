package models

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/models/graph/affine"
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

// mostLevels bounds the combinations of levels that GradientBound tries.
const mostLevels = 1 << 10

// GradientBound bounds the L2 norm of a unit's gradient of the score of a beta divergence in the
// coordinates of m, over all records within declared bounds and all parameters. It is for a
// density of one location (or log odds) that is affine in the parameters: the gradient is the
// slope of the score in the location, see dist.BetaLocation, times that of the location. It is
// infinite for other models: where a slope is itself a parameter, gradients have no bound.
func (m *Model) GradientBound() float64 {
	l, data := &m.Spec.Likelihood, &m.Spec.Data
	if !l.IsBeta() || l.Views.IsSet() || data.Weights.IsSet() || len(data.Tensors) > 0 || m.Likelihood.AuxRecord+m.Likelihood.AuxGlobal > 0 {
		return math.Inf(1)
	}
	g := m.rows()
	location, slope, ok := dist.BetaLocation(g.density(m.Core.Observe[0]), l.Beta.Or(core.DefaultBeta))
	if !ok {
		return math.Inf(1)
	}
	spans, levels := spansOf(m.Encoding.Fields)
	column := func(j int) (affine.Span, bool) {
		span, known := spans[j]
		return span, known
	}
	most, tried := 0.0, 0
	var at func(rest []encoding.Field)
	at = func(rest []encoding.Field) {
		if tried++; tried > mostLevels {
			return
		}
		if len(rest) > 0 {
			for level := range len(rest[0].Levels) + 1 { // the last: none of them
				setLevel(spans, &rest[0], level)
				at(rest[1:])
			}
			return
		}
		slopes, affine := affine.Slopes(location, m.P, column)
		if ok = ok && affine; ok {
			most = max(most, floats.Norm(slopes, 2))
		}
	}
	at(levels)
	if !ok || tried > mostLevels {
		return math.Inf(1)
	}
	return l.Weight.Or(1) * slope * most * float64(max(1, m.Encoding.RowsPerUnit)) * (1 + 1e-9)
}

// spansOf are the spans of the encoded columns of numbers, and the fields with levels.
func spansOf(fields []encoding.Field) (spans map[int]affine.Span, levels []encoding.Field) {
	spans = make(map[int]affine.Span)
	for _, f := range fields {
		switch f.Kind {
		case encoding.LevelCode, encoding.OneHot:
			levels = append(levels, f)
		case encoding.MissingIndicator:
			spans[f.Out[0]] = affine.Span{High: 1}
		case encoding.Numeric:
			if f.Lower == nil || f.Upper == nil {
				continue
			}
			spans[f.Out[0]] = affine.Span{Low: f.Encoded(*f.Lower), High: f.Encoded(*f.Upper)} // also of imputed values
		}
	}
	return spans, levels
}

// setLevel gives the columns of a field their values at a level, or without one.
func setLevel(spans map[int]affine.Span, f *encoding.Field, level int) {
	for l, out := range f.Out {
		x := 0.0
		switch {
		case f.Kind == encoding.LevelCode:
			x = float64(min(level, len(f.Levels)-1))
		case l == level:
			x = 1
		}
		if out >= 0 {
			spans[out] = affine.Span{Low: x, High: x}
		}
	}
}

// IsLinear reports whether the records depend on the parameters that vary by linear predictors
// alone, given the other parameters: each argument of each observed density is a monotone function
// of a number that is affine in them. A formula has linear predictors; a neural network has none.
func (m *Model) IsLinear(varies func(parameter int) bool) bool {
	if m.Spec.Model != nil && m.Spec.Model.Formula.IsSet() {
		return true
	}
	g := m.rows()
	for _, d := range m.Core.Observe {
		for _, x := range g.density(d).Inputs() {
			if !affine.Linked(x, varies) {
				return false
			}
		}
	}
	return true
}

// rows is the graph of the records of m, to be analysed.
func (m *Model) rows() *build {
	c := newCompiler(m.Spec, m.Core)
	c.coordinates = m.coordinates
	c.dimensions()
	c.parameters()
	g := c.build()
	g.rows()
	return g
}
