// Package score scores the predictions of a release on records that stay private. All
// scores come from one table of counts of predictions by outcomes. Counts of units have a
// known sensitivity, so the table is released with noise, and all scores follow from it
// at no further cost.
package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/predict"
	"d3p/internal/privacy"
)

// Table puts a record in the cell of its prediction and its outcome. For a category the
// prediction is the probability of the level that came, and of the most probable one; for
// a number the cell is the error of the expected response.
type Table struct {
	outcome
	// Edges are between bins: of a probability in [0, 1]; of an error in units of the
	// response's range, in [-1, 1].
	Edges []float64
	Range float64 // of a number: upper bound less lower bound; 0 of a category

	model     *models.Model
	posterior predict.Posterior
	random    dist.Rand
	at        int  // of the target among the model's
	closeness bool // cells are the cells of a utility
}

// outcome is a column that is predicted, and how its values are read.
type outcome struct {
	Target   predict.Target
	response encoding.Field
	asMean   bool // the expected response is the second level's probability
}

func outcomeOf(m *models.Model, target predict.Target) (o outcome, err error) {
	observed := &m.Observed[target.Observation]
	if _, censored := observed.Density.(dist.Censored); censored {
		return o, fmt.Errorf("%s is known from below alone where it is censored, so an error has no size (fit a binary response such as `dead by 12 months` to score it)", target.Name)
	}
	column := observed.Columns[target.Column]
	if column.Derive != nil {
		return o, fmt.Errorf("%s is computed from other columns, and outcomes are read from columns of the file alone (`d3p predict` gives its probabilities; to score them, write %s into the file as a column of its own before the next fit)", target.Name, target.Name)
	}
	header := column.HeaderName()
	i := slices.IndexFunc(m.Encoding.Fields, func(f encoding.Field) bool { return f.Column == header && f.Kind != encoding.MissingIndicator })
	if i < 0 {
		return o, fmt.Errorf("column %s is not read from the file", target.Name)
	}
	o = outcome{Target: target, response: m.Encoding.Fields[i]}
	if target.Levels == 0 && o.response.Type == data.Binary {
		o.Target.Levels, o.asMean = 2, true
	}
	return o, nil
}

// level is the level that came; false if the outcome or the prediction is missing.
func (o *outcome) level(p *predict.Summary, value float64) (level int, ok bool) {
	level = int(value)
	return level, value-value == 0 && level >= 0 && level < o.Target.Levels && (!o.asMean || p.HasMean)
}

// probabilities are the edges of bins of a probability, finer where the log score changes
// fast.
var probabilities = []float64{0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999}

// errorEdges are the edges of bins of an error: ratios of 1.25 from 1/500 of the range on.
func errorEdges() []float64 {
	var edges []float64
	for x := 1.; x > 0.002; x /= 1.25 {
		edges = append(edges, -x, x)
	}
	slices.Sort(edges)
	return edges
}

// New is the table for a column that m predicts from the posterior; "" is the only one.
func New(m *models.Model, posterior predict.Posterior, column string, random dist.Rand) (table *Table, err error) {
	if m.Reconstruct != nil {
		return nil, errors.New("a model with local latents predicts no response: there is nothing to score")
	}
	if m.Predict.AuxRecord > 0 { // dealt out by place, so a record would change the cells of those behind it
		return nil, errors.New("the predictions are drawn, because `binarize` is stochastic: a record's would depend on the others (fit the model with a threshold)")
	}
	targets := predict.Targets(m)
	at := slices.IndexFunc(targets, func(t predict.Target) bool { return t.Name == column || column == "" && len(targets) == 1 })
	if at < 0 {
		var names []string
		for _, t := range targets {
			names = append(names, t.Name)
		}
		return nil, fmt.Errorf("the model predicts %q: name one of them with --column", names)
	}
	t := &Table{Edges: probabilities, model: m, posterior: posterior, random: random, at: at}
	if t.outcome, err = outcomeOf(m, targets[at]); err != nil {
		return nil, err
	}
	if t.Target.Levels == 0 {
		if t.response.Lower == nil || t.response.Upper == nil {
			return nil, fmt.Errorf("column %s has no bounds, so an error has no range", t.Target.Name)
		}
		t.Range = *t.response.Upper - *t.response.Lower
		t.Edges = errorEdges()
	}
	return t, nil
}

// Cells is the number of cells of the one table. For a category with two levels a cell is a
// bin of the second level's probability and the observed level. For more levels it is a bin
// of the observed level's probability, and whether that level was the most probable one.
func (t *Table) Cells() []int {
	if t.Target.Levels == 0 || t.closeness {
		return []int{len(t.Edges) + 1}
	}
	return []int{2 * (len(t.Edges) + 1)}
}

// Place puts each row in its cell; see privacy.Placer.
func (t *Table) Place(tables []privacy.Placed, block privacy.RowRange) error {
	k, cells := t.model.Encoding.K, tables[0].Cells
	all := rowsOf(t.model, block)
	return predict.Predict(t.model, t.posterior, all, t.random, func(i int, p *predict.Prediction) error {
		cells[i] = -1
		if p.OK {
			cells[i] = t.cell(&p.Targets[t.at], t.response.Decode(all.Data[i*k:(i+1)*k]))
		}
		return nil
	})
}

// rowsOf are the rows of a block.
func rowsOf(m *models.Model, of privacy.RowRange) predict.Rows {
	k, n := m.Encoding.K, (of.High-of.Low)*of.Most
	width := m.Encoding.Width() / of.Most
	all := predict.Rows{Data: make([]float64, n*k), N: n, Stride: k, Valid: make([]bool, n)}
	record := make([]float64, of.K)
	for i := range of.High - of.Low {
		of.Row(of.Low+i, record)
		for r := range of.Most {
			row := record[r*width : (r+1)*width]
			copy(all.Data[(i*of.Most+r)*k:], row[:k])
			all.Valid[i*of.Most+r] = of.Valid[of.Low+i] && (width == k || row[k] == 1)
		}
	}
	return all
}

// cell is the cell of a prediction and an outcome; -1 if one of them does not exist.
func (t *Table) cell(p *predict.Summary, outcome float64) int {
	if t.Target.Levels == 0 {
		e := (outcome - p.Mean) / t.Range
		if !p.HasMean || e-e != 0 {
			return -1
		}
		if t.closeness {
			return t.close(p, outcome)
		}
		return bin(t.Edges, e)
	}
	level, ok := t.level(p, outcome)
	if !ok {
		return -1
	}
	if t.closeness {
		return t.close(p, outcome)
	}
	if t.asMean {
		return 2*bin(t.Edges, p.Mean) + level
	}
	if t.Target.Levels == 2 {
		return 2*bin(t.Edges, p.Levels[1]) + level
	}
	first := 0
	if p.Class() == level {
		first = 1
	}
	return 2*bin(t.Edges, p.Levels[level]) + first
}

// bin is the place of x between edges.
func bin(edges []float64, x float64) int {
	if math.IsNaN(x) {
		return 0
	}
	i, found := slices.BinarySearch(edges, x)
	if found {
		i++
	}
	return i
}
