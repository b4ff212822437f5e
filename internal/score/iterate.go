package score

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/predictive"
	"d3p/internal/predict"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

// Iterate measures the predictions at one θ, with a table for each quantity: the mean loss
// and the share of right predictions, with the cells "not" and "loss" or "right", and the
// numbers of the response's levels, with a cell for each, which no θ changes.
type Iterate struct {
	outcome
	Quantities []string // of settings.TraceQuantities

	model *models.Model
	theta []float64
}

// NewIterate measures quantities of m at theta (P). Only the response of a model that
// predicts one column is measured.
func NewIterate(m *models.Model, quantities []string, theta []float64) (*Iterate, error) {
	if n := len(predict.Targets(m)); n > 1 {
		return nil, fmt.Errorf("the model predicts %d columns, and a trace is of one (leave it out; d3p score measures a column of the release)", n)
	}
	table, err := New(m, predict.Posterior{}, "", nil)
	if err != nil {
		return nil, err
	}
	it := &Iterate{outcome: table.outcome, Quantities: quantities, model: m, theta: theta}
	for _, quantity := range quantities {
		if it.Target.Levels == 0 && quantity != settings.TraceLoss {
			return nil, fmt.Errorf("%s: %s has no levels (leave it out)", quantity, it.Target.Name)
		}
	}
	return it, nil
}

// Unit is the loss that counts as 1; larger losses count as 1, too. It is the range of a
// number, whose loss is the absolute error, and log(levels) + 2 for a category, whose loss
// is -log p.
func (it *Iterate) Unit() float64 {
	if it.Target.Levels == 0 {
		return *it.response.Upper - *it.response.Lower
	}
	return math.Log(float64(it.Target.Levels)) + 2
}

// Levels names the response's levels; nil of a number.
func (it *Iterate) Levels() []string {
	column := it.model.Observed[it.Target.Observation].Columns[it.Target.Column]
	if it.Target.Levels == 0 {
		return nil
	}
	return column.LevelNames()
}

// Cells implements privacy.Placer.
func (it *Iterate) Cells() (cells []int) {
	for _, quantity := range it.Quantities {
		if quantity == settings.TraceClasses {
			cells = append(cells, it.Target.Levels)
		} else {
			cells = append(cells, 2)
		}
	}
	return cells
}

// Place implements privacy.Placer. Every record is predicted once.
func (it *Iterate) Place(tables []privacy.Placed, block privacy.RowRange) error {
	k, i := it.model.Encoding.K, it.Target.Observation
	all := rowsOf(it.model, block)
	together := it.model.Predict.BatchSize()
	machine := predictive.New(it.model, together)
	machine.Set(it.theta)
	means := make([]float64, together*len(it.model.Observed[i].Columns))
	levels := make([]float64, together*it.Target.Levels)
	for first := 0; first < all.N; first += together {
		n := min(together, all.N-first)
		machine.Records(all.Data[first*k:], k, n)
		p := prediction{mean: math.NaN(), levels: make([]float64, it.Target.Levels)}
		hasMean := machine.Mean(means, i)
		if !it.asMean {
			machine.Levels(levels, i)
		}
		for b := range n {
			if hasMean {
				p.mean = means[it.Target.Column*n+b]
			}
			for l := range p.levels {
				p.levels[l] = levels[l*n+b]
			}
			if it.asMean {
				p.levels[0], p.levels[1] = 1-p.mean, p.mean
			}
			outcome := it.response.Decode(all.Data[(first+b)*k : (first+b+1)*k])
			for t, quantity := range it.Quantities {
				cell, part := -1, 0.0
				if all.Valid[first+b] {
					cell, part = it.cell(quantity, p, outcome)
				}
				tables[t].Cells[first+b], tables[t].Parts[first+b] = cell, part
			}
		}
	}
	return nil
}

// prediction is the predicted mean of a number (NaN if it has none), or the probabilities
// of levels.
type prediction struct {
	mean   float64
	levels []float64
}

// cell is the cell of a prediction and an outcome, and the part of its weight for the next
// cell; -1 if one of the two does not exist.
func (it *Iterate) cell(quantity string, p prediction, outcome float64) (cell int, part float64) {
	if it.Target.Levels == 0 {
		e := math.Abs(outcome-p.mean) / it.Unit()
		if math.IsNaN(e) {
			return -1, 0
		}
		return 0, e
	}
	level := int(outcome)
	if outcome-outcome != 0 || level < 0 || level >= it.Target.Levels || it.asMean && math.IsNaN(p.mean) {
		return -1, 0
	}
	switch quantity {
	case settings.TraceClasses:
		return level, 0
	case settings.TraceAccuracy:
		if slices.Index(p.levels, slices.Max(p.levels)) == level {
			return 0, 1
		}
		return 0, 0
	}
	if !(p.levels[level] > 0) { // NaN is not
		return 0, 1
	}
	return 0, -math.Log(p.levels[level]) / it.Unit()
}
