package main

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/predict"
	"d3p/internal/report"
)

// predictionFiles are the groups of predictions for the new rows, in
// ArviZ's form: draws of each response, and the new rows as the model reads them.
func (p *prediction) predictionFiles() ([]report.File, error) {
	m := p.run.model
	if len(p.targets) == 0 {
		return nil, usagef("--format zarr: the model observes arrays alone, whose draws would be too many; use csv")
	}
	responses := &report.Tables{S: p.posterior.S, N: p.rows.N}
	for _, t := range p.targets {
		column := report.NewTableColumn(m.Observed[t.Observation].Columns[t.Column], responses.S*responses.N)
		column.Name = t.Name
		responses.Columns = append(responses.Columns, column)
	}
	err := predict.Draws(m, p.posterior, p.rows, p.random, func(row int, draws [][]float64) error {
		for i := range draws {
			for s, y := range draws[i] {
				responses.Columns[i].Values[s*responses.N+row] = y
			}
		}
		return nil
	})
	if err != nil {
		return nil, failWith(statusNumeric, err)
	}
	sample := &report.Sample{Model: p.run.params.Model}
	if err := sample.Under(p.run.privacy); err != nil {
		return nil, err
	}
	return report.PredictionFiles(sample, responses, p.given()), nil
}

// given are the new rows, decoded.
func (p *prediction) given() *report.Tables {
	t := &report.Tables{S: 1, N: p.rows.N}
	for _, f := range predict.EncodingOf(p.run.model).Fields {
		if f.Kind == models.MissingIndicator || f.Role == models.Response {
			continue
		}
		c := report.TableColumn{Name: f.Column, Levels: f.Levels, Values: make([]float64, t.N)}
		for i := range c.Values {
			c.Values[i] = math.NaN()
			if p.rows.Valid[i] {
				c.Values[i] = f.Decode(p.rows.Data[i*p.rows.Stride:])
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}
