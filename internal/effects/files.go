package effects

import (
	"encoding/csv"
	"io"

	"d3p/internal/predict"
	"d3p/internal/report/figure"
)

// WriteAverages writes the average expected outcomes as CSV, one value per line. banner
// stands in its own column; "" for none.
func WriteAverages(w io.Writer, effects []Effect, prob float64, banner string) error {
	low, high := predict.QuantileNames(prob)
	lines := [][]string{{"column", "value", "outcome", "mean", "sd", low, high}}
	for _, e := range effects {
		for _, p := range e.Points {
			lines = append(lines, []string{e.Column, p.Label, e.Outcome, predict.Cell(p.Mean), predict.Cell(p.SD), predict.Cell(p.Lower), predict.Cell(p.Upper)})
		}
	}
	return write(w, lines, banner)
}

// WriteContrasts writes the contrasts as CSV, one per line.
func WriteContrasts(w io.Writer, effects []Effect, prob float64, banner string) error {
	lines := [][]string{append([]string{"column", "to", "from", "outcome"}, predict.ContrastColumns(prob)...)}
	for _, e := range effects {
		for _, c := range e.Changes {
			lines = append(lines, append([]string{e.Column, c.To, c.From, e.Outcome}, c.Cells()...))
		}
	}
	return write(w, lines, banner)
}

func write(w io.Writer, lines [][]string, banner string) error {
	if banner != "" {
		for i := range lines {
			cell := banner
			if i == 0 {
				cell = "privacy"
			}
			lines[i] = append(lines[i], cell)
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// Figure draws an effect.
func (e Effect) Figure(prob float64) figure.Figure {
	points := make([]figure.Expected, len(e.Points))
	for i, p := range e.Points {
		points[i] = figure.Expected{Name: p.Label, X: p.X, Mean: p.Mean, Lower: p.Lower, Upper: p.Upper}
	}
	if e.Number && len(points) > 1 {
		return figure.Curve(e.Column, e.Outcome, points, prob)
	}
	return figure.Levels(e.Column, e.Outcome, points, prob)
}
