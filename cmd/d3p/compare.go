package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"d3p/internal/report"
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

// comparedRow has null for a run without that variable.
type comparedRow struct {
	Variable string            `json:"variable"`
	Runs     []*report.Summary `json:"runs"`
}

func newCompare(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compare RUN RUN...",
		Short: "Print the posteriors of several runs side by side",
		Long: `Compare prints the mean and the 5 % to 95 % interval of every parameter, one
column per run. It works from the releases alone. Each run on the same records
adds to what an attacker learns; choosing between them by this table is tuning.`,
		Example: "  d3p compare run-eps1 run-eps4 run-base",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("%s: needs two runs or more; usage: %s", c.CommandPath(), c.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			result, err := compare(args)
			if err != nil {
				return err
			}
			return a.result(result, func(w io.Writer) { printComparison(w, result) })
		},
	}
}

// compare lines up the variables of runs, in the order of their first appearance.
func compare(runs []string) (*comparison, error) {
	result, at := &comparison{}, map[string]int{}
	for i, run := range runs {
		r, err := readReleased(run)
		if err != nil {
			return nil, err
		}
		result.Runs = append(result.Runs, comparedRun{run, r.params.Model, r.privacy.Statements.OneLine})
		for _, row := range r.draws(r.drawn).Summarise() {
			k, ok := at[row.Variable]
			if !ok {
				k = len(result.Rows)
				at[row.Variable] = k
				result.Rows = append(result.Rows, comparedRow{row.Variable, make([]*report.Summary, len(runs))})
			}
			result.Rows[k].Runs[i] = &row
		}
	}
	return result, nil
}

func printComparison(w io.Writer, c *comparison) {
	for i, run := range c.Runs {
		fmt.Fprintf(w, "%d  %s: %s\n", i+1, run.Run, run.Claim)
	}
	fmt.Fprintln(w)
	t := newTable(w)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{"parameter"}
	for i := range c.Runs {
		header = append(header, fmt.Sprintf("run %d", i+1))
	}
	t.AppendHeader(header)
	for _, row := range c.Rows[:min(len(c.Rows), maxRows)] {
		line := table.Row{row.Variable}
		for _, s := range row.Runs {
			cell := ""
			if s != nil {
				cell = fmt.Sprintf("%s [%s, %s]", number3(s.Mean), number3(s.Q5), number3(s.Q95))
			}
			line = append(line, cell)
		}
		t.AppendRow(line)
	}
	t.Render()
	if hidden := len(c.Rows) - maxRows; hidden > 0 {
		fmt.Fprintf(w, "and %d more with --json\n", hidden)
	}
	fmt.Fprintln(w, "\nmean [5 %, 95 %] of the posterior, privacy noise included")
}
