package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"d3p/internal/report"
)

// summaryResult is the JSON form of `d3p summary`.
type summaryResult struct {
	Run     string           `json:"run"`
	Model   string           `json:"model"`
	Claim   string           `json:"claim"`
	Summary []report.Summary `json:"summary"`
}

func newSummary(a *app) *cobra.Command {
	var asked drawn
	c := &cobra.Command{
		Use:   "summary RUN",
		Short: "Print the posterior of a finished fit",
		Long: `Summary prints mean, standard deviation and the 5 % to 95 % interval of every
parameter, and which part of its variance stands for the privacy noise. It works
from the release alone and costs no privacy.`,
		Example: "  d3p summary d3p-run-cohort-1\n  d3p summary d3p-run-cohort-1/release --json",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := readReleased(args[0])
			if err != nil {
				return err
			}
			take, err := asked.orOf(c, r)
			if err != nil {
				return err
			}
			result := summaryResult{args[0], r.params.Model, r.privacy.Statements.OneLine, r.draws(take).Summarise()}
			return a.result(result, func(w io.Writer) {
				printSummary(w, result.Summary)
				fmt.Fprintf(w, "\n%s\n\nClaim: %s\n", explain(r.model), result.Claim)
			})
		},
	}
	asked.flags(c)
	return c
}

// flags defines which draws a command takes.
func (d *drawn) flags(c *cobra.Command) {
	c.Flags().IntVar(&d.n, "draws", 0, "posterior draws to take (default as many as the fit)")
	c.Flags().Uint64Var(&d.seed, "seed", 0, "seed of the draws, which is public (default that of the fit)")
}

// orOf is what the flags ask for, or else what the fit of a release took.
func (d drawn) orOf(c *cobra.Command, r *released) (drawn, error) {
	if !c.Flags().Changed("seed") {
		d.seed = r.drawn.seed
	}
	switch {
	case !c.Flags().Changed("draws"):
		d.n = r.drawn.n
	default:
		return d, checkDraws(d.n)
	}
	return d, nil
}

func checkDraws(draws int) error {
	if draws < 2 {
		return usagef("--draws: %d is less than 2", draws)
	}
	return nil
}
