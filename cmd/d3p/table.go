package main

import (
	"fmt"
	"io"

	"d3p/internal/report"
)

// maxRows bounds the table at the end of a fit; summary.csv has every row.
const maxRows = 40

// usualProb is the probability of the intervals of tables, q5 to q95.
const usualProb = 0.9

// checkProb reports a --prob that is no probability of an interval.
func checkProb(prob float64) error {
	if !(prob > 0 && prob < 1) {
		return usagef("--prob: %v is not between 0 and 1", prob)
	}
	return nil
}

// A view says how a table shows a posterior.
type view struct {
	prob  float64 // of the intervals
	raw   bool    // coefficients are in the unit of the data file
	ratio string  // what exp of a coefficient is, when that is shown; ""
}

// center is what stands for the middle of a posterior: of ratios, which are skewed,
// the median.
func (v view) center() string {
	if v.ratio != "" {
		return "median"
	}
	return "mean"
}

// printSummary prints the posterior, without what report.Shown leaves out. Rows
// without the ends of an interval of their own have q5 to q95.
func printSummary(w io.Writer, rows []report.Summary, v view) {
	if len(rows) == 0 {
		return // the posterior is a point
	}
	t := columns{w: w, right: []int{1, 2, 3, 4, 5}}
	low, high := tails(v.prob)
	t.line(cells{"parameter", v.center(), "sd", low, high, "noise"})
	rows = report.Shown(rows)
	for _, r := range rows[:min(len(rows), maxRows)] {
		share, lower, upper := "", r.Q5, r.Q95
		if r.NoiseShare != nil && *r.NoiseShare > 0 {
			share = fmt.Sprintf("%.0f %%", 100**r.NoiseShare)
		}
		if r.Lower != nil {
			lower, upper = *r.Lower, *r.Upper
		}
		middle := r.Mean
		if v.ratio != "" {
			middle = r.Median
		}
		t.line(cells{r.Variable, number3(middle), number3(r.SD), number3(lower), number3(upper), share})
	}
	t.print()
	if hidden := len(rows) - maxRows; hidden > 0 {
		fmt.Fprintf(w, "and %d more in summary.csv\n", hidden)
	}
}

// tails names the ends of a central interval of probability prob.
func tails(prob float64) (low, high string) {
	return fmt.Sprintf("%.4g %%", 50*(1-prob)), fmt.Sprintf("%.4g %%", 50*(1+prob))
}

// number3 prints three decimals, or three digits where these would not show.
func number3(x float64) string {
	if x != 0 && (x < 0.001 && x > -0.001 || x >= 1e6 || x <= -1e6) {
		return fmt.Sprintf("%.2e", x)
	}
	return fmt.Sprintf("%.3f", x)
}
