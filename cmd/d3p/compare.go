package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/outputs"
)

// comparison is the JSON form of `d3p compare`: a column per run.
type comparison struct {
	Runs []comparedRun `json:"runs"`
	Rows []comparedRow `json:"rows"`
}

type comparedRun struct {
	Run   string `json:"run"`
	Model string `json:"model"`
	Claim string `json:"claim"`
}

// comparedRow has null for a run without that variable. For two runs that both have it,
// Apart is the second mean less the first, over the root of the sum of the variances.
type comparedRow struct {
	Variable string             `json:"variable"`
	Runs     []*outputs.Summary `json:"runs"`
	Apart    *float64           `json:"apart,omitempty"`
}

func newCompare(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "compare RUN RUN...",
		Short: "Print the posteriors of several runs side by side",
		Long: `Compare prints the mean and the 5 % to 95 % interval of every parameter, one column
per run, and the verdict on those that are not resolved. For two runs it also prints
their distance: the difference of means over the root of the sum of variances. It
needs the releases only. Each run on the same records tells an attacker more; a choice
between runs by this table is tuning.`,
		Example: "  d3p compare run-eps1 run-eps4 run-base",
		Args:    atLeast(2, "two runs or more"),
		RunE: func(c *cobra.Command, args []string) error {
			result, err := a.compare(c.Context(), args)
			if err != nil {
				return err
			}
			return a.result(result, func(w io.Writer) { printComparison(w, result) })
		},
	}
	a.unverifiedFlag(c)
	return c
}

// compare lines up the variables of runs in the order in which they first appear.
func (a *app) compare(ctx context.Context, runs []string) (*comparison, error) {
	result, at := &comparison{}, map[string]int{}
	for i, run := range runs {
		r, err := a.releases.Read(ctx, run)
		if err != nil {
			return nil, err
		}
		result.Runs = append(result.Runs, comparedRun{run, r.Params.Model, r.Privacy.Statements.OneLine})
		draws, _, _, err := r.Judged(r.Drawn)
		if err != nil {
			return nil, err
		}
		for _, row := range draws.Summarise() {
			k, ok := at[row.Variable]
			if !ok {
				k = len(result.Rows)
				at[row.Variable] = k
				result.Rows = append(result.Rows, comparedRow{Variable: row.Variable, Runs: make([]*outputs.Summary, len(runs))})
			}
			result.Rows[k].Runs[i] = &row
		}
	}
	for k := range result.Rows {
		result.Rows[k].Apart = apart(result.Rows[k].Runs)
	}
	return result, nil
}

// apart is the distance of two runs in standard deviations. It is nil for more than two
// runs, for points, and if one run lacks the variable.
func apart(runs []*outputs.Summary) *float64 {
	if len(runs) != 2 || runs[0] == nil || runs[1] == nil {
		return nil
	}
	sd := math.Hypot(runs[0].SD, runs[1].SD)
	if sd == 0 {
		return nil
	}
	x := (runs[1].Mean - runs[0].Mean) / sd
	return &x
}

// shown leaves out the rows that report.Shown leaves out.
func (c *comparison) shown() []comparedRow {
	var first []outputs.Summary // the first run that has it
	of := map[string]comparedRow{}
	for _, row := range c.Rows {
		i := slices.IndexFunc(row.Runs, func(s *outputs.Summary) bool { return s != nil })
		first = append(first, *row.Runs[i])
		of[row.Variable] = row
	}
	var rows []comparedRow
	for _, s := range outputs.WithoutRepetitions(first) {
		rows = append(rows, of[s.Variable])
	}
	return rows
}

func printComparison(w io.Writer, c *comparison) {
	for i, run := range c.Runs {
		fmt.Fprintf(w, "%d  %s: %s\n", i+1, run.Run, run.Claim)
	}
	fmt.Fprintln(w)
	t := terminal.Columns{W: w}
	header := terminal.Cells{"parameter"}
	for i := range c.Runs {
		header = append(header, fmt.Sprintf("run %d", i+1))
	}
	if len(c.Runs) == 2 {
		header = append(header, "apart")
		t.Right = []int{len(header) - 1}
	}
	t.Line(header)
	rows, unresolved := c.shown(), false
	for _, row := range rows[:min(len(rows), maxRows)] {
		line := terminal.Cells{row.Variable}
		for _, s := range row.Runs {
			cell := ""
			if s != nil {
				cell = fmt.Sprintf("%s [%s, %s]", number3(s.Mean), number3(s.Q5), number3(s.Q95))
				if s.Verdict != nil && s.Verdict.Value != outputs.Resolved {
					cell += " " + s.Verdict.Value
					unresolved = true
				}
			}
			line = append(line, cell)
		}
		if row.Apart != nil {
			line = append(line, fmt.Sprintf("%.1f", *row.Apart))
		}
		t.Line(line)
	}
	t.Print()
	if hidden := len(rows) - maxRows; hidden > 0 {
		fmt.Fprintf(w, "and %d more with --json\n", hidden)
	}
	fmt.Fprintln(w, "\nmean [5 %, 95 %] of the posterior, privacy noise included")
	if unresolved {
		fmt.Fprintln(w, "partly, not: whether it is resolved; d3p summary RUN gives the reason")
	}
	if len(c.Runs) == 2 {
		fmt.Fprintln(w, "apart: run 2 less run 1, over the root of the sum of their variances")
	}
}
