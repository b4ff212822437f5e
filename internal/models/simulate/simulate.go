// Package simulate draws tables of records from a model and from how columns are
// spread. It reads no data.
package simulate

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/law"
)

// Table is a table in the unit of the file: numbers, and indices of levels.
type Table struct {
	Columns []*data.Column
	Values  [][]float64 // by column, then by row
	Shape   []int       // of a record whose columns are those of one tensor; nil for others
	// Clamped are the records with an observed number that was drawn outside its declared bounds, by more than half
	// a unit of whole ones, and not censored there.
	Clamped []int
}

// Prior draws n records from the prior predictive distribution: parameters from the prior,
// predictors by their declared law, and observed columns from their distributions. It
// returns θ, too. It reads no data; trying and timing a model on such a table is free.
func Prior(m *models.Model, n int, rng dist.Rand) (Table, []float64) {
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, rng)
	return At(m, theta, n, m.DeclaredLaw(), rng), theta
}

// At is Prior at given unconstrained parameters, with the columns' law l.
func At(m *models.Model, theta []float64, n int, l *law.Law, rng dist.Rand) Table {
	return draw(m, theta, n, l, rng, rng)
}

// draw is At with other random numbers for the observed columns.
func draw(m *models.Model, theta []float64, n int, l *law.Law, rng, ofObserved dist.Rand) Table {
	t := Table{Columns: m.Spec.Data.AllColumns()}
	t.Shape = shapeOf(m, t.Columns)
	for range t.Columns {
		t.Values = append(t.Values, make([]float64, n))
	}
	l.Draw(t.Values, rng)
	s := newSampler(m, t.Columns)
	s.predictive.Set(theta)
	s.censored = make(map[int]*censoring)
	for i := range m.Observed {
		s.censored[i] = s.censoringOf(i, &t)
	}
	for first := 0; first < n; first += s.together {
		s.draw(&t, first, min(s.together, n-first), ofObserved)
	}
	return t
}

// Records draws n records at the unconstrained parameters theta, as the likelihood reads
// them: [n x Encoding.K], row-major. Their columns have the law l. It reads no data. A
// unit has one row.
func Records(m *models.Model, theta []float64, n int, l *law.Law, rng dist.Rand) []float64 {
	return Encode(m, At(m, theta, n, l, rng), n)
}

// Apart draws n records from the law l alone, as Records, with observed columns that do not depend on
// the others.
func Apart(m *models.Model, n int, l *law.Law, rng dist.Rand) []float64 {
	t := Table{Columns: m.Spec.Data.AllColumns()}
	var others [][]float64
	for range t.Columns {
		t.Values, others = append(t.Values, make([]float64, n)), append(others, make([]float64, n))
	}
	l.Draw(t.Values, rng)
	l.Draw(others, rng)
	for _, o := range m.Observed {
		for _, c := range o.Columns {
			if i := slices.Index(t.Columns, c); i >= 0 {
				t.Values[i] = others[i]
			}
		}
	}
	return Encode(m, t, n)
}

// Encode encodes the first n records of t as the likelihood reads them.
func Encode(m *models.Model, t Table, n int) []float64 {
	at := make(map[string]int)
	for i, c := range t.Columns {
		at[c.HeaderName()] = i
	}
	k := m.Encoding.K
	rows := make([]float64, n*k)
	for b := range n {
		m.Encoding.Encode(rows[b*k:(b+1)*k], func(header string) float64 { return t.Values[at[header]][b] })
	}
	return rows
}

// shapeOf is the shape of the tensor that consists of these columns; nil if no tensor
// does.
func shapeOf(m *models.Model, columns []*data.Column) (shape []int) {
	for _, t := range m.Spec.Data.Tensors {
		if slices.Equal(t.Columns, columns) {
			for _, n := range t.Shape {
				shape = append(shape, n.V)
			}
		}
	}
	return shape
}
