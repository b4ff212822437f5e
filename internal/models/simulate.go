package models

import (
	"math"

	"d3p/internal/models/dist"
	"d3p/internal/models/spec"
)

// Table is a table in the unit of the file: numbers, and indices of levels.
type Table struct {
	Columns []*spec.Column
	Values  [][]float64 // by column, then by row
	Shape   []int       // of a record whose columns are those of one tensor; nil for others
}

// Simulate draws n records from the prior predictive distribution: parameters
// from the prior, the columns that are only predicted from by Invent, and those
// that are observed from their distributions. It returns θ, too. It reads no
// data; a model can be tried and timed on such a table for free.
func (m *Model) Simulate(n int, rng dist.Rand) (Table, []float64) {
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, rng)
	return m.SimulateAt(theta, n, rng), theta
}

// SimulateAt is Simulate at given unconstrained parameters.
func (m *Model) SimulateAt(theta []float64, n int, rng dist.Rand) Table {
	t := Table{Columns: m.Spec.Data.AllColumns()}
	t.Shape = m.shapeOf(t.Columns)
	for _, c := range t.Columns {
		column := make([]float64, n)
		for b := range column {
			column[b] = Invent(c, rng)
		}
		t.Values = append(t.Values, column)
	}
	s := m.newRecordSampler(t.Columns)
	s.predictive.Set(theta)
	for first := 0; first < n; first += s.together {
		s.draw(t, first, min(s.together, n-first), rng)
	}
	return t
}

// Invent draws a value of a column from its declaration alone: a normal at the
// declared scale, moved to the nearest bound; uniform on the bounds when no
// scale is declared; levels with equal probability.
func Invent(c *spec.Column, rng dist.Rand) float64 {
	if !c.Numeric() {
		return float64(rng.Uint64() % uint64(len(c.Levels)))
	}
	lower, upper := c.Transformed(c.Lower.V), c.Transformed(c.Upper.V)
	x := lower + (upper-lower)*rng.Uniform()
	if center, by := c.Scale(); c.Center.IsSet() && c.By.IsSet() {
		x = center + by*rng.Normal()
	}
	x = c.Untransformed(min(max(x, lower), upper))
	if c.Whole() {
		x = math.Round(x)
	}
	return min(max(x, c.Lower.V), c.Upper.V)
}

// encode encodes a record without missing values or undeclared levels; value
// returns its cell of a column, a number or the index of a level.
func (e Encoding) encode(row []float64, value func(header string) float64) {
	clear(row)
	for _, f := range e.Fields {
		v := value(f.Column)
		switch f.Kind {
		case Numeric, Quantile:
			by := f.Scale
			if by == 0 {
				by = 1
			}
			c := spec.Column{Transform: spec.Value[string]{V: f.Transform}}
			row[f.Out[0]] = (c.Transformed(v) - f.Center) / by
			if f.Kind == Quantile {
				row[f.Out[0]] = NormalQuantile(row[f.Out[0]])
			}
		case LevelCode:
			row[f.Out[0]] = v
		case OneHot:
			if out := f.Out[int(v)]; out >= 0 {
				row[out] = 1
			}
		}
	}
}
