package score

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/predict"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

// Iterate measures one quantity of the predictions at one θ: the mean loss, the share of
// right predictions, or the numbers of the response's levels, which no θ changes. It has
// the cells "not" and "loss" or "right", or one for each level.
type Iterate struct {
	outcome
	Quantity string // of settings.TraceQuantities

	model  *models.Model
	theta  []float64
	random dist.Rand
	at     int // of the target among the model's
}

// NewIterate is the measure of a quantity of m at theta (P). Only the response of a model
// that predicts one column is measured.
func NewIterate(m *models.Model, quantity string, theta []float64, random dist.Rand) (*Iterate, error) {
	if n := len(predict.Targets(m)); n > 1 {
		return nil, fmt.Errorf("the model predicts %d columns, and a trace is of one (leave it out; d3p score measures a column of the release)", n)
	}
	table, err := New(m, predict.Posterior{}, "", random)
	if err != nil {
		return nil, err
	}
	it := &Iterate{outcome: table.outcome, Quantity: quantity, model: m, theta: theta, random: random, at: table.at}
	if it.Target.Levels == 0 && quantity != settings.TraceLoss {
		return nil, fmt.Errorf("%s: %s has no levels (leave it out)", quantity, it.Target.Name)
	}
	return it, nil
}

// Unit is the loss that counts as 1, and more counts as that: the range of a number, whose
// loss is the absolute error; log(levels) + 2 of a category, whose loss is -log p.
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
func (it *Iterate) Cells() int {
	if it.Quantity == settings.TraceClasses {
		return it.Target.Levels
	}
	return 2
}

// iterateRecords are encoded together.
const iterateRecords = 1 << 10

// Place implements privacy.Placer.
func (it *Iterate) Place(cells []int, parts []float64, rows *privacy.Rows, most int) error {
	k := it.model.Encoding.K
	point := predict.Posterior{S: 1, Prob: 0.9, Point: true, Draw: func(theta []float64, _ int) { copy(theta, it.theta) }}
	for low := 0; low < rows.N; low += iterateRecords {
		all := rowsOf(it.model, rows, most, low, min(low+iterateRecords, rows.N))
		first := low * most
		err := predict.Predict(it.model, point, all, it.random, func(i int, p *predict.Prediction) error {
			cells[first+i] = -1
			if p.OK {
				cells[first+i], parts[first+i] = it.cell(&p.Targets[it.at], it.response.Decode(all.Data[i*k:(i+1)*k]))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cell is the cell of a prediction and an outcome, and the part of its weight that goes to
// the next one; -1 if one of the two does not exist.
func (it *Iterate) cell(p *predict.Summary, outcome float64) (cell int, part float64) {
	if it.Target.Levels == 0 {
		e := math.Abs(outcome-p.Mean) / it.Unit()
		if !p.HasMean || math.IsNaN(e) {
			return -1, 0
		}
		return 0, e
	}
	level, ok := it.level(p, outcome)
	if !ok {
		return -1, 0
	}
	probabilities := p.Levels
	if it.asMean {
		probabilities = []float64{1 - p.Mean, p.Mean}
	}
	switch it.Quantity {
	case settings.TraceClasses:
		return level, 0
	case settings.TraceAccuracy:
		if slices.Index(probabilities, slices.Max(probabilities)) == level {
			return 0, 1
		}
		return 0, 0
	}
	if !(probabilities[level] > 0) { // NaN is not
		return 0, 1
	}
	return 0, -math.Log(probabilities[level]) / it.Unit()
}
