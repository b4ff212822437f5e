package main

import (
	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/status"
	"d3p/internal/cluster"
	"d3p/internal/run"
)

// inRanks runs a command in the processes that an MPI launcher started, if one did: the
// first does all that has to be done once, the others take part in its fit.
func (a *app) inRanks(c *cobra.Command, first func(run.Ranks) error) error {
	job, err := cluster.Join()
	if err != nil {
		return status.Usagef("%v", err)
	}
	ranks := run.NewRanks(job)
	if job.Rank > 0 {
		err = a.follow(c, ranks)
	} else {
		if ranks.Several() {
			a.notef("running in %d processes of %s", job.Size, job.Library)
		}
		err = first(ranks)
	}
	if left := ranks.Dismiss(); left != nil && err == nil {
		err = status.With(status.Numeric, left)
	}
	return err
}

// follow takes part in the fit of rank 0, which prints what there is to say.
func (a *app) follow(c *cobra.Command, ranks run.Ranks) error {
	if err := a.stopItself(c.Context()); err != nil {
		return err
	}
	a.quiet = true
	host := a.host()
	host.Step = nil
	return status.With(status.Numeric, run.Follow(ranks, host))
}
