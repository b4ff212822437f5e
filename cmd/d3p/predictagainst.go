package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"

	"d3p/internal/predict"
)

// contrastColumns name what is said of a row and of its counterpart.
func (p *prediction) contrastColumns() []string {
	low, high := p.quantiles()
	return []string{"row", "mean", "against", "difference", "sd", low, high, "ratio", "ratio_sd", "ratio_" + low, "ratio_" + high}
}

// predictAgainst compares the expected response of each row with that of the same
// row of another file, and of all rows together.
func (a *app) predictAgainst(p *prediction, s predictSettings) error {
	others, err := readNewRows(s.against, p.run.model)
	if err != nil {
		return err
	}
	if others.N != p.rows.N {
		return failWith(statusData, fmt.Errorf("--against: %s has %d rows, the new rows are %d; each is compared with the one in its place", s.against, others.N, p.rows.N))
	}
	result := &predictResult{N: p.rows.N, Columns: p.contrastColumns()}
	banner := p.run.params.Privacy
	if banner != "" {
		result.Columns = append(result.Columns, "privacy")
	}
	line := func(name string, c predict.Contrast) {
		cells := append([]string{name}, contrastCells(c)...)
		if banner != "" {
			cells = append(cells, banner)
		}
		result.Rows = append(result.Rows, cells)
	}
	average, err := predict.Compare(p.run.model, p.posterior, p.rows, others, p.random, func(row int, c predict.Contrast) error {
		line(strconv.Itoa(row+1), c)
		return nil
	})
	switch {
	case errors.Is(err, predict.ErrNoContrast):
		return usagef("--against: %w, as a regression of a number, a count or 0/1 has", err)
	case err != nil:
		return failWith(statusNumeric, err)
	}
	line("average", average)
	var text bytes.Buffer
	lines := csv.NewWriter(&text)
	lines.Write(result.Columns) // to memory: it cannot fail
	lines.WriteAll(result.Rows)
	return a.writeLines(result, text.Bytes(), s.out, "contrasts of %d rows and of their average")
}

// contrastCells are the cells of a line; empty where nothing is known.
func contrastCells(c predict.Contrast) []string {
	var cells []string
	for _, x := range []float64{c.Mean, c.Against, c.Difference.Mean, c.Difference.SD, c.Difference.Lower, c.Difference.Upper, c.Ratio.Mean, c.Ratio.SD, c.Ratio.Lower, c.Ratio.Upper} {
		if !c.OK || math.IsNaN(x) {
			cells = append(cells, "")
		} else {
			cells = append(cells, strconv.FormatFloat(x, 'g', 8, 64))
		}
	}
	return cells
}
