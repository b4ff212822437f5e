// Package prediction writes predictions for new rows as lines, draws or images.
package prediction

import (
	"math"
	"strconv"

	"d3p/cmd/d3p/internal/released"
	"d3p/internal/models/encoding"
	"d3p/internal/outputs"
	"d3p/internal/predict"
	"d3p/internal/privacy/noise"
	"d3p/internal/release"
	"d3p/internal/status"
)

// Prediction holds new rows, draws from a release, and public randomness for the responses.
type Prediction struct {
	Run       *released.Release
	Rows      predict.Rows
	Posterior predict.Posterior
	Targets   []predict.Target
	Random    *noise.Random
}

// Columns names the columns of the lines. With several targets each has its own, prefixed
// by its name. The columns of local latents and of arrays follow.
func (p *Prediction) Columns() []string {
	m := p.Run.Model
	columns := []string{"row"}
	for _, t := range p.Targets {
		prefix := ""
		if len(p.Targets) > 1 {
			prefix = t.Name + "."
		}
		low, high := p.quantiles()
		names := []string{"mean", "sd", low, high, "y_" + low, "y_" + high}
		if t.Levels > 0 {
			names = []string{"class"}
			for _, level := range m.Observed[t.Observation].Columns[t.Column].LevelNames() {
				names = append(names, "p["+level+"]")
			}
		}
		for _, name := range names {
			columns = append(columns, prefix+name)
		}
	}
	if m.Reconstruct != nil {
		columns = append(columns, "bound")
	}
	for i := range m.Observed {
		if o := &m.Observed[i]; m.Spec.Data.Tensor(o.Name) != nil {
			for _, c := range o.Columns {
				columns = append(columns, c.HeaderName())
			}
		}
	}
	if p.Run.Params.Privacy != "" {
		columns = append(columns, "privacy")
	}
	return columns
}

// quantiles names the ends of the intervals.
func (p *Prediction) quantiles() (low, high string) { return predict.QuantileNames(p.Posterior.Prob) }

// Line is the cells of row i; missing values are empty.
func (p *Prediction) Line(i int, predicted *predict.Prediction) []string {
	line := []string{strconv.Itoa(i + 1)}
	number := func(x float64, exists bool) {
		if !exists || !predicted.OK || math.IsNaN(x) {
			line = append(line, "")
			return
		}
		line = append(line, strconv.FormatFloat(x, 'g', 8, 64))
	}
	for k := range predicted.Targets {
		t, s := p.Targets[k], &predicted.Targets[k]
		if t.Levels == 0 {
			for _, x := range []float64{s.Mean, s.SD, s.Lower, s.Upper} {
				number(x, s.HasMean)
			}
			number(s.YLower, true)
			number(s.YUpper, true)
			continue
		}
		class := ""
		if predicted.OK {
			class = p.Run.Model.Observed[t.Observation].Columns[t.Column].LevelNames()[s.Class()]
		}
		line = append(line, class)
		for _, probability := range s.Levels {
			number(probability, true)
		}
	}
	if p.Run.Model.Reconstruct != nil {
		number(predicted.Bound, true)
	}
	for _, values := range predicted.Arrays {
		for _, x := range values {
			number(x, true)
		}
	}
	if p.Run.Params.Privacy != "" {
		line = append(line, p.Run.Params.Privacy)
	}
	return line
}

// Files are the groups of predictions in ArviZ's form: draws of each response, and the new
// rows as the model reads them.
func (p *Prediction) Files() ([]release.File, error) {
	m := p.Run.Model
	if len(p.Targets) == 0 {
		return nil, status.Usagef("--format zarr: the model observes arrays alone, whose draws would be too many; use csv")
	}
	responses := &outputs.Tables{S: p.Posterior.S, N: p.Rows.N}
	for _, t := range p.Targets {
		column := outputs.NewTableColumn(m.Observed[t.Observation].Columns[t.Column], responses.S*responses.N)
		column.Name = t.Name
		responses.Columns = append(responses.Columns, column)
	}
	err := predict.Draws(m, p.Posterior, p.Rows, p.Random, func(row int, draws [][]float64) error {
		for i := range draws {
			for s, y := range draws[i] {
				responses.Columns[i].Values[s*responses.N+row] = y
			}
		}
		return nil
	})
	if err != nil {
		return nil, status.With(status.Numeric, err)
	}
	sample := &outputs.Sample{Model: p.Run.Params.Model}
	if err := p.Run.Privacy.Describe(sample); err != nil {
		return nil, err
	}
	return outputs.PredictionFiles(sample, responses, p.given()), nil
}

// given are the decoded new rows.
func (p *Prediction) given() *outputs.Tables {
	t := &outputs.Tables{S: 1, N: p.Rows.N}
	for _, f := range predict.EncodingOf(p.Run.Model).Fields {
		if f.Kind == encoding.MissingIndicator || f.Role == encoding.Response {
			continue
		}
		c := outputs.TableColumn{Name: f.Column, Levels: f.Levels, Values: make([]float64, t.N)}
		for i := range c.Values {
			c.Values[i] = math.NaN()
			if p.Rows.Valid[i] {
				c.Values[i] = f.Decode(p.Rows.Data[i*p.Rows.Stride:])
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}
