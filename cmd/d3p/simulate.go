package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/outfile"
	"d3p/internal/export"
	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/status"
)

// simulateResult is the JSON form of `d3p simulate`.
type simulateResult struct {
	Out        string             `json:"out"`
	N          int                `json:"n"`
	Seed       uint64             `json:"seed"`
	Parameters map[string]float64 `json:"parameters"` // the parameters and settings that the table was drawn with
}

func newSimulate(a *app) *cobra.Command {
	var out string
	var n int
	var seed uint64
	c := &cobra.Command{
		Use:   "simulate MODEL",
		Short: "Draw a simulated table from the prior",
		Long: `Simulate draws parameters from the prior, then a table from the model. The table
fits the declaration, so you can try and time a fit before you touch data. Columns
that only predict are drawn from their declarations: numbers around the declared
scale or uniform on the bounds, levels with equal probability. Simulate reads no
data.

Without --out the table goes to stdout as CSV. With --json and --out the drawn
parameters go to stdout.`,
		Example: "  d3p simulate cohort.yaml -n 5000 --out cohort.csv && d3p fit --epsilon 1 cohort.csv",
		Args:    exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("rows") && n < 1 {
				return status.Usagef("--rows: %d is less than 1", n)
			}
			files, err := outfile.TablePaths(out, "", 1)
			if err != nil {
				return err
			}
			m, err := modelfile.Load(args[0])
			if err != nil {
				return err
			}
			for _, t := range m.Spec.Data.Tensors {
				if t.Sequence() {
					return status.Usagef("d3p simulate: column %s has texts or tokens, which d3p cannot draw; try a fit with --records and a public table", t.From.V)
				}
			}
			n = cmp.Or(n, m.Spec.Data.Rows.N())
			rng := noise.NewRandom(noise.Public(seed).Stream(noise.Simulation))
			table, theta := simulate.Units(m, n, rng)
			if out == "" {
				return a.printRows(table, "")
			}
			if err := outfile.WriteTable(files[0], table, "", nil); err != nil {
				return err
			}
			result := simulateResult{Out: out, N: len(table.Values[0]), Seed: seed, Parameters: namedValues(m, theta)}
			return a.result(result, func(w io.Writer) {
				if !a.quiet {
					fmt.Fprintf(w, "%s: %d simulated rows\n", out, len(table.Values[0]))
				}
			})
		},
	}
	c.Flags().IntVarP(&n, "rows", "n", 0, "number of rows, or of units that may have several (default the declared one)")
	c.Flags().StringVar(&out, "out", "", "`FILE` to write, .csv, .parquet or .npy (default stdout)")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the draws, which is public")
	return c
}

// namedValues are the values of all parameters at theta, by name.
func namedValues(m *models.Model, theta []float64) map[string]float64 {
	values := make([]float64, m.Constrained)
	m.Constrain(values, theta)
	named := make(map[string]float64, len(values))
	for i, name := range m.Names() {
		named[name] = values[i]
	}
	return named
}

// printRows prints the rows of a table on stdout as CSV, which --json has no place for.
func (a *app) printRows(t simulate.Table, privacy string) error {
	if a.json {
		return status.Usagef("--json needs --out with a file for the table")
	}
	return a.printTable(func(w io.Writer) error { return export.Write(w, "csv", t, export.Options{Privacy: privacy}) })
}
