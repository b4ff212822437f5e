package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"d3p/internal/models"
	"d3p/internal/report"
)

// maxRows bounds the table at the end of a fit; summary.csv has every row.
const maxRows = 40

// rawSuffix marks coefficients in the units of the data file.
const rawSuffix = "_raw"

// printSummary prints the posterior, without what says the same again: the
// standardised effects of groups, and coefficients in the units of the file; nor
// what does not vary.
func printSummary(w io.Writer, m *models.Model, rows []report.Summary) {
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
	again := map[string]bool{}
	for i := range m.Derived {
		name := m.Derived[i].Name
		if group, ok := strings.CutPrefix(name, "r_"); ok {
			again["z_"+group] = true
		}
		if strings.HasSuffix(name, rawSuffix) {
			again[name] = true
		}
	}
	shown, hidden := 0, 0
	for _, r := range rows {
		name, _, _ := strings.Cut(r.Variable, "[")
		switch {
		case again[name] || constant(r):
			continue
		case shown == maxRows:
			hidden++
			continue
		}
		shown++
		share := ""
		if r.NoiseShare != nil && *r.NoiseShare > 0 {
			share = fmt.Sprintf("%.0f %%", 100**r.NoiseShare)
		}
		t.AppendRow(table.Row{r.Variable, number3(r.Mean), number3(r.SD), number3(r.Q5), number3(r.Q95), share})
	}
	t.Render()
	if hidden > 0 {
		fmt.Fprintf(w, "and %d more in summary.csv\n", hidden)
	}
}

// constant tells whether draws of a variable are the same but for rounding, as
// half of a Cholesky factor's elements are.
func constant(r report.Summary) bool {
	return r.Q95-r.Q5 <= 1e-9*math.Max(math.Abs(r.Q5), math.Abs(r.Q95))
}

// number3 prints three decimals, or three digits where these would not show.
func number3(x float64) string {
	if x != 0 && (x < 0.001 && x > -0.001 || x >= 1e6 || x <= -1e6) {
		return fmt.Sprintf("%.2e", x)
	}
	return fmt.Sprintf("%.3f", x)
}
