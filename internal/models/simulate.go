package models

import (
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/law"
)

// Table is a table in the unit of the file: numbers, and indices of levels.
type Table struct {
	Columns []*data.Column
	Values  [][]float64 // by column, then by row
	Shape   []int       // of a record whose columns are those of one tensor; nil for others
}

// Simulate draws n records from the prior predictive distribution: parameters
// from the prior, the columns that are only predicted from by their declared law,
// and those that are observed from their distributions. It returns θ, too. It
// reads no data; a model can be tried and timed on such a table for free.
func (m *Model) Simulate(n int, rng dist.Rand) (Table, []float64) {
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, rng)
	return m.SimulateAt(theta, n, m.DeclaredLaw(), rng), theta
}

// DeclaredLaw is how the columns are spread as far as the declarations tell.
func (m *Model) DeclaredLaw() *law.Law { return law.Declared(&m.Spec.Data) }

// SimulateAt is Simulate at given unconstrained parameters, with columns spread as
// l says.
func (m *Model) SimulateAt(theta []float64, n int, l *law.Law, rng dist.Rand) Table {
	t := Table{Columns: m.Spec.Data.AllColumns()}
	t.Shape = m.shapeOf(t.Columns)
	for range t.Columns {
		t.Values = append(t.Values, make([]float64, n))
	}
	l.Draw(t.Values, rng)
	s := m.newRecordSampler(t.Columns)
	s.predictive.Set(theta)
	for first := 0; first < n; first += s.together {
		s.draw(t, first, min(s.together, n-first), rng)
	}
	return t
}
