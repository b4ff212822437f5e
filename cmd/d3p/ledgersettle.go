package main

import (
	"github.com/spf13/cobra"

	"d3p/internal/run"
)

func newLedgerSettle(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "settle FILE RUN...",
		Short: "Give back the reservations of killed fits",
		Long: `Settle books what a killed fit spent, and gives the rest of its reservation back. It
needs the folder of the run. The steps up to the last checkpoint stay charged. Nobody
saw the numbers of later steps, because they ended with the process. A fit that still
runs, or whose folder is missing, keeps its reservation.

d3p resume can still continue from the checkpoint: it reserves the rest again.`,
		Example: "  d3p ledger settle cohort.ledger d3p-run-cohort-3",
		Args:    ledgerAndRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, folder := range args[1:] {
				if err := run.Settle(args[0], folder); err != nil {
					return err
				}
			}
			return a.showLedger(args[0])
		},
	}
}
