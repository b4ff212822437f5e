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
	var seed uint64
	var draws int
	c := &cobra.Command{
		Use:   "summary RUN",
		Short: "Print the posterior of a finished fit",
		Long: `Summary prints mean, standard deviation and the 5 % to 95 % interval of every
parameter, and which part of its variance stands for the privacy noise. It works
from the release alone and costs no privacy.`,
		Example: "  d3p summary d3p-run-cohort-1\n  d3p summary d3p-run-cohort-1/release --json",
		Args:    exactly("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkDraws(draws); err != nil {
				return err
			}
			r, err := readReleased(args[0])
			if err != nil {
				return err
			}
			result := summaryResult{args[0], r.params.Model, r.privacy.Statements.OneLine, r.draws(draws, seed).Summarise()}
			return a.result(result, func(w io.Writer) {
				printSummary(w, result.Summary)
				fmt.Fprintf(w, "\n%s\n\nClaim: %s\n", explain(r.model), result.Claim)
			})
		},
	}
	drawFlags(c, &draws, &seed)
	return c
}

// drawFlags defines how many draws a command takes, and their public seed.
func drawFlags(c *cobra.Command, draws *int, seed *uint64) {
	c.Flags().IntVar(draws, "draws", defaultDraws, "posterior draws to take")
	c.Flags().Uint64Var(seed, "seed", 0, "seed of the draws, which is public; that of the fit gives its draws again")
}

func checkDraws(draws int) error {
	if draws < 2 {
		return usagef("--draws: %d is less than 2", draws)
	}
	return nil
}
