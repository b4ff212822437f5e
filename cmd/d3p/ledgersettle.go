package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"d3p/internal/ledger"
	"d3p/internal/privacy/event"
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
			for _, run := range args[1:] {
				if err := settleKilled(args[0], run); err != nil {
					return err
				}
			}
			return a.showLedger(args[0])
		},
	}
}

// settleKilled books what the killed fit in a folder had spent.
func settleKilled(path, run string) error {
	folder, err := openRun(run)
	if err != nil {
		return err
	}
	defer folder.close()
	unlock, err := folder.lock()
	if err != nil {
		return err
	}
	defer unlock()
	j, checkpoint, err := folder.stoppedFit()
	var spent event.Event
	switch {
	case err == nil:
		steps, err := heldBy(&checkpoint)
		if err != nil {
			return err
		}
		spent = steps.Event()
	case !errors.Is(err, fs.ErrNotExist):
		return failWith(statusUsage, fmt.Errorf("%s: %w", folder.path, err))
	case j.ID == "":
		return usagef("%s holds no fit", folder.path)
	}
	if folder.released() {
		return usagef("%s: the fit is finished (d3p ledger add books it)", folder.path)
	}
	known := j.Attempts
	j = j.nextAttempt() // should a copy of the folder be at work, it will not release
	if err := folder.write(jobFile, j); err != nil {
		return err
	}
	_, err = ledger.Update(path, func(book *ledger.Book) error {
		switch reserved, err := book.Has(j.ID, ledger.Reserved); {
		case err != nil:
			return err
		case !reserved:
			return fmt.Errorf("%s holds no reservation of %s", path, folder.path)
		}
		return errors.Join(book.Holds(j.ID, known), book.Settle(j.booking().run, spent, time.Now()))
	})
	if err != nil {
		return failWith(statusUsage, err)
	}
	folder.giveSpaceBack()
	return nil
}
