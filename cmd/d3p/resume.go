package main

import (
	"context"

	"github.com/spf13/cobra"

	"d3p/internal/privacy/noise"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/signature"
	"d3p/internal/spell"
	"d3p/internal/status"
)

func newResume(a *app) *cobra.Command {
	var data, device string
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue a stopped fit at no new cost",
		Long: `Resume continues a fit from its last step. The checkpoint contains the ledger, so
the whole fit keeps its planned price. The remaining noise and batches are drawn
anew. With --sampling balls_and_bins or shuffle the rest of an interrupted epoch is
noise alone, because a record could occur twice in it.`,
		Example: "  d3p resume d3p-run-cohort-1\n  d3p resume d3p-run-cohort-1 --device cpu",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, wrong := settings.Named("device").Read(device); device != "" && wrong != nil {
				return status.Usagef("--device: %w", wrong)
			}
			return a.inRanks(c, func(ranks run.Ranks) error { return a.resume(c, args[0], data, device, ranks) })
		},
	}
	c.Flags().StringVar(&data, "data", "", "data `FILE`, when it has moved")
	c.Flags().StringVar(&device, "device", "", "`DEVICE` to continue on, as for d3p fit (default that of the fit)")
	return c
}

// resume continues the stopped fit in a folder.
func (a *app) resume(c *cobra.Command, folder, data, device string, ranks run.Ranks) error {
	r, err := run.Reopen(folder, data)
	if err != nil {
		return err
	}
	defer r.Close()
	if device != "" {
		r.Job.Device = device
	}
	if r.Key, err = signature.ReadKey(r.Job.Sign); err != nil {
		return status.Usagef("--sign: %w", err)
	}
	if r.Root, err = noise.System(); err != nil {
		return status.With(status.Numeric, err)
	}
	defer r.Root.Wipe()
	if err := a.stopItself(c.Context()); err != nil {
		return err
	}
	a.warnUnbooked(r, folder)
	a.overBudget = "type d3p ledger show " + spell.Word(r.Job.Ledger) + " for what is left"
	if r.CanFinish() {
		a.overBudget = "type d3p finish " + spell.Word(folder) + " for the result so far, whose price is booked"
	}
	r.Host, r.Ranks = a.host(), ranks
	a.progress.Phase("reading the records")
	result, err := r.Resume(c.Context())
	if err != nil {
		return err
	}
	return a.printFit(result)
}

func newFinish(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "finish RUN",
		Short: "End a stopped fit early, at the price of the steps taken",
		Long: `Finish releases the result of a stopped fit so far, at the price of its steps. It reads
no record. The rest of the fit's reservation goes back to the ledger of the data set.

The lower price holds if the decision to end the fit did not depend on its iterates; a
fit in progress shows only its step and price. The report states this condition, and the
price of all planned steps, which always holds.`,
		Example: "  d3p finish d3p-run-cohort-1",
		Args:    exactly("RUN"),
		RunE:    func(c *cobra.Command, args []string) error { return a.finish(c.Context(), args[0]) },
	}
}

// finish ends the stopped fit in a folder.
func (a *app) finish(ctx context.Context, folder string) error {
	r, err := run.Reopen(folder, "")
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Key, err = signature.ReadKey(r.Job.Sign); err != nil {
		return status.Usagef("--sign: %w", err)
	}
	a.warnUnbooked(r, folder)
	r.Host = a.host()
	a.progress.Phase("computing the posterior and writing the release")
	result, err := r.Finish(ctx)
	if err != nil {
		return err
	}
	return a.printFit(result)
}

// warnUnbooked warns that the variable of the ledger does not book a fit that began without one.
func (a *app) warnUnbooked(r *run.Run, folder string) {
	name := settings.Variable("ledger")
	if path, _ := a.environment().Lookup(name); path != "" && r.Job.Ledger == "" && r.Plan.Private && !r.Job.Insecure {
		a.warnf("%s began without a ledger, and %s does not book it: when it is finished, type d3p ledger add %s %s", folder, name, spell.Word(path), spell.Word(folder))
	}
}
