package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"d3p/internal/report"
)

// maxRows bounds the table at the end of a fit; summary.csv has every row.
const maxRows = 40

// printSummary prints the posterior, without what report.Shown leaves out.
func printSummary(w io.Writer, rows []report.Summary) {
	if len(rows) == 0 {
		return // the posterior is a point
	}
	t := newTable(w)
	t.AppendHeader(table.Row{"parameter", "mean", "sd", "5 %", "95 %", "noise"})
	t.Style().Format.Header = text.FormatDefault
	var align []table.ColumnConfig
	for column := 2; column <= 6; column++ {
		align = append(align, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(align)
	rows = report.Shown(rows)
	for _, r := range rows[:min(len(rows), maxRows)] {
		share := ""
		if r.NoiseShare != nil && *r.NoiseShare > 0 {
			share = fmt.Sprintf("%.0f %%", 100**r.NoiseShare)
		}
		t.AppendRow(table.Row{r.Variable, number3(r.Mean), number3(r.SD), number3(r.Q5), number3(r.Q95), share})
	}
	t.Render()
	if hidden := len(rows) - maxRows; hidden > 0 {
		fmt.Fprintf(w, "and %d more in summary.csv\n", hidden)
	}
}

// number3 prints three decimals, or three digits where these would not show.
func number3(x float64) string {
	if x != 0 && (x < 0.001 && x > -0.001 || x >= 1e6 || x <= -1e6) {
		return fmt.Sprintf("%.2e", x)
	}
	return fmt.Sprintf("%.3f", x)
}
