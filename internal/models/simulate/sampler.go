package simulate

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/predictive"
)

// sampler draws the observed columns of records of a table, each after
// the columns that its distribution depends on.
type sampler struct {
	m          *models.Model
	together   int // records drawn at a time
	predictors encoding.Encoding
	predictive *predictive.Distribution
	order      []int              // of the observations
	at         map[string]int     // of columns in the table, by header
	rows       []float64          // encoded records
	draws      []float64          // of one observation
	censored   map[int]*censoring // by observation; nil: records are not censored
	// expectArrays sets tensors to their means instead of draws, if they have a mean.
	expectArrays bool
}

// newSampler prepares draws for tables with these columns, which include all columns that
// the model reads. Observations that depend on each other in a circle are drawn in the
// order of declaration.
func newSampler(m *models.Model, columns []*data.Column) *sampler {
	together := m.Predict.BatchSize()
	s := &sampler{m: m, together: together, predictors: m.Encoding.Predictors(), predictive: predictive.New(m, together), at: make(map[string]int)}
	for i, c := range columns {
		s.at[c.HeaderName()] = i
	}
	var err error
	if s.order, err = m.Ancestral(); err != nil {
		s.order = nil
		for i := range m.Observed {
			s.order = append(s.order, i)
		}
	}
	s.rows = make([]float64, together*s.predictors.K)
	for _, o := range m.Observed {
		if need := together * len(o.Columns); need > len(s.draws) {
			s.draws = make([]float64, need)
		}
	}
	return s
}

// draw replaces the observed columns of the n records from first, n at most
// s.together, given the table's other columns and the parameters that
// predictive was set to.
func (s *sampler) draw(t *Table, first, n int, rng dist.Rand) {
	s.predictive.Latents(rng)
	for k, i := range s.order {
		o := &s.m.Observed[i]
		if k == 0 || len(o.Parents) > 0 {
			s.encode(*t, first, n)
		}
		s.predictive.Draw(s.draws, i, rng)
		if s.expectArrays && s.m.Spec.Data.Tensor(o.Name) != nil {
			s.predictive.Mean(s.draws, i)
		}
		for j, c := range o.Columns {
			if c.Derive != nil {
				s.meet(c, *t, first, s.draws[j*n:j*n+n])
				continue
			}
			column := t.Values[s.at[c.HeaderName()]][first : first+n]
			for b := range column {
				x := s.draws[j*n+b]
				if column[b] = declared(c, x); isClamped(c, x) && !isCensored(o) {
					t.Clamped = append(t.Clamped, first+b)
				}
			}
		}
		s.censor(i, t, first, n, rng)
	}
}

// meet gives the column that a condition is about values with which the condition is as
// drawn, 0 or 1.
func (s *sampler) meet(c *data.Column, t Table, first int, drawn []float64) {
	of, err := s.m.Spec.Data.ConditionOf(c)
	if err != nil {
		panic("simulate: an observed condition: " + err.Error()) // it was compiled
	}
	column := t.Values[s.at[of.Column.HeaderName()]][first:]
	for b, x := range drawn {
		switch x {
		case 1:
			column[b] = of.Met
		case 0:
			column[b] = of.Unmet
		}
	}
}

// encode evaluates the model's predictors for n records of the table.
func (s *sampler) encode(t Table, first, n int) {
	k := s.predictors.K
	for b := range n {
		s.predictors.Encode(s.rows[b*k:(b+1)*k], func(header string) float64 { return t.Values[s.at[header]][first+b] })
	}
	s.predictive.Records(s.rows, k, n)
}

// declared moves a number to the nearest declared bound, as the reader of data
// does; NaN, a missing value, stays.
func declared(c *data.Column, v float64) float64 {
	if !c.Numeric() {
		return v
	}
	if c.Whole() {
		v = math.Round(v)
	}
	return min(max(v, c.Lower.V), c.Upper.V)
}

// isClamped reports whether a number is outside the declared bounds, a whole one by more than rounding.
func isClamped(c *data.Column, v float64) bool {
	beyond := 0.0
	if c.Whole() {
		beyond = 0.5
	}
	return c.Numeric() && (v < c.Lower.V-beyond || v > c.Upper.V+beyond)
}
