package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"d3p/internal/fit"
	"d3p/internal/privacy/noise"
)

func newResume(a *app) *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue a stopped fit at no new cost",
		Long: `Resume continues a fit from its last step. The checkpoint contains the ledger, so
the whole fit costs what was planned. The remaining noise and batches are drawn
anew. With --sampling balls_and_bins or shuffle the rest of an interrupted epoch is
noise alone, because a record could occur twice in it.`,
		Example: "  d3p resume d3p-run-cohort-1",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := openRun(args[0])
			if err != nil {
				return err
			}
			defer folder.close()
			if folder.released() { // whatever checkpoint is beside it: it was paid for once
				return usagef("%s holds no stopped fit", args[0])
			}
			unlock, err := folder.lock()
			if err != nil {
				return err
			}
			defer unlock()
			j, checkpoint, err := folder.stoppedFit()
			if errors.Is(err, fs.ErrNotExist) {
				return noCheckpoint(folder, j)
			}
			if err != nil {
				return failWith(statusUsage, fmt.Errorf("%s: %w", args[0], err))
			}
			j = j.nextAttempt()
			if data != "" {
				absolute, err := filepath.Abs(data)
				if err != nil {
					return failWith(statusData, err)
				}
				j.Data = absolute
			}
			return a.resume(c, folder, j, &checkpoint)
		},
	}
	c.Flags().StringVar(&data, "data", "", "data `FILE`, when it has moved")
	return c
}

// noCheckpoint says why there is nothing to go on from.
func noCheckpoint(folder runFolder, j job) error {
	switch {
	case j.ID == "":
		return usagef("%s holds no stopped fit", folder.path)
	case j.Ledger != "":
		return usagef("%s: the fit was killed before its first checkpoint, and released nothing; start it again in a new folder (d3p ledger settle LEDGER %[1]s gives back what it had reserved)", folder.path)
	}
	return usagef("%s: the fit was killed before its first checkpoint, and released nothing; start it again in a new folder", folder.path)
}

// resume compiles the model of a job again and goes on from its checkpoint.
func (a *app) resume(c *cobra.Command, folder runFolder, j job, checkpoint *fit.Checkpoint) error {
	m, err := j.compile()
	if err != nil {
		return err
	}
	key, err := signingKey(j.Sign)
	if err != nil {
		return err
	}
	root, err := noise.System()
	if err != nil {
		return failWith(statusNumeric, err)
	}
	defer root.Wipe()
	if err := a.stopItself(c.Context()); err != nil {
		return err
	}
	return a.execute(c.Context(), folder, j, m, checkpoint.Plan, shared{table: j.table(m, root), key: key}, root, checkpoint)
}
