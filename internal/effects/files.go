package effects

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"d3p/internal/predict"
	"d3p/internal/report/figure"
)

// WriteAverages writes the average expected outcomes as CSV, a line a value. banner is
// what stands in a column of its own; "" for none.
func WriteAverages(w io.Writer, effects []Effect, prob float64, banner string) error {
	low, high := predict.QuantileNames(prob)
	lines := [][]string{{"column", "value", "outcome", "mean", "sd", low, high}}
	for _, e := range effects {
		for _, p := range e.Points {
			lines = append(lines, append([]string{e.Column, p.Label, e.Outcome}, cells(p.Mean, p.SD, p.Lower, p.Upper)...))
		}
	}
	return write(w, lines, banner)
}

// WriteContrasts writes the contrasts as CSV, a line each.
func WriteContrasts(w io.Writer, effects []Effect, prob float64, banner string) error {
	low, high := predict.QuantileNames(prob)
	lines := [][]string{{"column", "to", "from", "outcome", "mean", "against", "difference", "sd", low, high, "ratio", "ratio_sd", "ratio_" + low, "ratio_" + high}}
	for _, e := range effects {
		for _, c := range e.Changes {
			line := []string{e.Column, c.To, c.From, e.Outcome}
			line = append(line, cells(c.Mean, c.Against, c.Difference.Mean, c.Difference.SD, c.Difference.Lower, c.Difference.Upper)...)
			lines = append(lines, append(line, cells(c.Ratio.Mean, c.Ratio.SD, c.Ratio.Lower, c.Ratio.Upper)...))
		}
	}
	return write(w, lines, banner)
}

// cells prints numbers; what is not known is empty.
func cells(numbers ...float64) (list []string) {
	for _, x := range numbers {
		if math.IsNaN(x) {
			list = append(list, "")
		} else {
			list = append(list, strconv.FormatFloat(x, 'g', 8, 64))
		}
	}
	return list
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

// Print prints the contrasts as a table for a terminal.
func Print(w io.Writer, effects []Effect, prob float64) {
	low, high := predict.QuantileNames(prob)
	table := [][]string{{"column", "change", "outcome", "from", "to", "difference", low, high}}
	for _, e := range effects {
		for _, c := range e.Changes {
			short := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
			table = append(table, []string{e.Column, c.From + " -> " + c.To, e.Outcome, short(c.Against), short(c.Mean),
				short(c.Difference.Mean), short(c.Difference.Lower), short(c.Difference.Upper)})
		}
	}
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, line := range table {
		for i, cell := range line {
			if i < 3 {
				fmt.Fprintf(w, "%-*s  ", widths[i], cell)
			} else {
				fmt.Fprintf(w, "%*s  ", widths[i], cell)
			}
		}
		fmt.Fprintln(w)
	}
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
