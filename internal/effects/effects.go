// Package effects computes the expected response of a model as one column varies and the
// others keep their distribution: average predictions over simulated rows, and their
// contrasts. It is post-processing of a release and costs no privacy.
package effects

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/law"
	"d3p/internal/predict"
	"d3p/internal/spell"
)

// Config states which effects to compute.
type Config struct {
	Columns []string // names of columns; nil: every predictor
	Rows    int      // simulated rows to average over
	Values  int      // of a number's grid
}

// An Effect has the expected response at several values of a column.
type Effect struct {
	Column  string   `json:"column"`
	Outcome string   `json:"outcome"` // the response, or response=level
	Number  bool     `json:"number"`  // the column is one
	Points  []Point  `json:"points"`
	Changes []Change `json:"contrasts"`
}

// A Point is the average expected outcome with a column at one value in all rows.
type Point struct {
	Label string  `json:"value"` // the text of a number, else the level
	X     float64 `json:"-"`     // the number, or the index of the level
	predict.Interval
}

// A Change compares the averages at two values: a level with the reference level, or the
// upper quartile of a number with the lower one.
type Change struct {
	To   string `json:"to"`
	From string `json:"from"`
	predict.Contrast
}

// Of computes the effects of columns of m. Rows are drawn from l.
func Of(m *models.Model, l *law.Law, posterior predict.Posterior, cfg Config, rng dist.Rand) ([]Effect, error) {
	columns, err := predictors(m, cfg.Columns)
	if err != nil {
		return nil, err
	}
	base := drawn(m, l, cfg.Rows, rng)
	var all []Effect
	for _, c := range columns {
		values, shown, from, to := valuesOf(l.Column(c.Name.V), c, cfg.Values)
		tables := make([]predict.Rows, len(values))
		for k, v := range values {
			tables[k] = base.with(c.HeaderName(), v)
		}
		outcomes, averages, err := predict.Averages(m, posterior, tables, rng)
		if err != nil {
			return nil, err
		}
		for o, outcome := range outcomes {
			e := Effect{Column: c.Name.V, Outcome: nameOf(m, outcome), Number: c.Numeric()}
			for k, v := range values[:shown] {
				e.Points = append(e.Points, Point{label(c, v), v, predict.Summarise(averages[k][o], posterior.Prob)})
			}
			for _, k := range to {
				e.Changes = append(e.Changes, Change{label(c, values[k]), label(c, values[from]), predict.Differences(averages[k][o], averages[from][o], posterior.Prob)})
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// nameOf names an outcome.
func nameOf(m *models.Model, o predict.Outcome) string {
	if o.Level < 0 {
		return o.Target.Name
	}
	return o.Target.Name + "=" + m.Observed[o.Target.Observation].Columns[o.Target.Column].LevelNames()[o.Level]
}

// predictors lists the columns of the file that m's predictions read: those in names, or
// all.
func predictors(m *models.Model, names []string) ([]*data.Column, error) {
	var columns []*data.Column
	var known []string
	fields := predict.EncodingOf(m).Fields
	for _, c := range m.Spec.Data.Columns {
		for _, f := range fields {
			if f.Column == c.HeaderName() && !slices.Contains(columns, c) {
				columns, known = append(columns, c), append(known, c.Name.V)
			}
		}
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("no column of the file predicts anything")
	}
	if names == nil {
		return columns, nil
	}
	var chosen []*data.Column
	for _, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, fmt.Errorf("%s is no predictor (%s)", name, spell.Suggest(name, "predictors", known))
		}
		chosen = append(chosen, columns[at])
	}
	return chosen, nil
}

// Shares of the rows below the ends of a number's grid, and below the values of its
// contrast.
const (
	tail     = 0.025
	quartile = 0.25
)

// valuesOf are the values of a column in turn, the number of shown ones, and the contrasts:
// values at to against the value at from.
func valuesOf(l *law.Column, c *data.Column, n int) (values []float64, shown, from int, to []int) {
	if !c.Numeric() {
		for level := range c.Levels {
			values = append(values, float64(level))
			if level != c.ReferenceLevel() {
				to = append(to, level)
			}
		}
		return values, len(values), c.ReferenceLevel(), to
	}
	low, high := l.Quantile(tail), l.Quantile(1-tail)
	if !(low < high) {
		low, high = c.Lower.V, c.Upper.V
	}
	for k := range n {
		v := low + (high-low)*float64(k)/float64(n-1)
		if c.Whole() {
			v = math.Round(v)
		}
		values = append(values, rounded(v, high-low))
	}
	values = slices.Compact(values)
	lower, upper := rounded(l.Quantile(quartile), high-low), rounded(l.Quantile(1-quartile), high-low)
	if lower == upper {
		lower, upper = values[0], values[len(values)-1]
	}
	shown = len(values)
	return append(values, lower, upper), shown, shown, []int{shown + 1}
}

// label is a value as readers write it.
func label(c *data.Column, v float64) string {
	switch {
	case !c.Numeric():
		return c.Levels[int(v)].V
	case c.Type.V == data.Date:
		return c.Cell(v)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// rounded is v to a thousandth of the width of its grid.
func rounded(v, width float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(width))-3)
	return math.Round(v/unit) * unit
}

// table holds simulated rows before they are encoded.
type table struct {
	m      *models.Model
	at     map[string]int // of a column's values, by name
	values [][]float64    // [column][row]
	rows   int
}

// drawn draws rows of every column from l.
func drawn(m *models.Model, l *law.Law, rows int, rng dist.Rand) table {
	t := table{m: m, at: make(map[string]int), rows: rows}
	for i, c := range m.Spec.Data.AllColumns() {
		t.at[c.HeaderName()] = i
		t.values = append(t.values, make([]float64, rows))
	}
	l.Draw(t.values, rng)
	return t
}

// with is the encoded table with one column at a value in all rows.
func (t table) with(header string, value float64) predict.Rows {
	e := predict.EncodingOf(t.m)
	rows := predict.Rows{Data: make([]float64, t.rows*e.K), N: t.rows, Stride: e.K, Valid: make([]bool, t.rows)}
	for b := range t.rows {
		rows.Valid[b] = true
		e.Encode(rows.Data[b*e.K:(b+1)*e.K], func(name string) float64 {
			if name == header {
				return value
			}
			return t.values[t.at[name]][b]
		})
	}
	return rows
}
