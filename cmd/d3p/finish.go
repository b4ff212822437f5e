package main

import (
	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/status"
	"d3p/internal/run"
	"d3p/internal/signature"
)

func newFinish(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "finish RUN",
		Short: "End a stopped fit early, at the price of the steps taken",
		Long: `Finish releases what a stopped fit has, at the price of the steps that it has taken. No
record is read. The rest of the fit's reservation goes back to the ledger of the data set.

The lower price holds if the decision to end the fit did not depend on what it had
computed; a fit in progress shows its step and price only. The report says so, and what
all planned steps cost: that price holds whatever the decision depended on.`,
		Example: "  d3p finish d3p-run-cohort-1",
		Args:    exactly("RUN"),
		RunE:    func(c *cobra.Command, args []string) error { return a.finish(args[0]) },
	}
}

// finish ends the stopped fit in a folder.
func (a *app) finish(folder string) error {
	r, err := run.Reopen(folder, "")
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Key, err = signature.ReadKey(r.Job.Sign); err != nil {
		return status.Usagef("--sign: %w", err)
	}
	r.Host = a.host()
	result, err := r.Finish()
	if err != nil {
		return err
	}
	return a.printFit(result, r.Model)
}
