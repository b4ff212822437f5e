package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"d3p/internal/ledger"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/status"
)

// Settle books the price of the killed fit in a folder, in the ledger at path.
func Settle(path, run string) error {
	folder, err := openFolder(run)
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
		steps, err := spentAt(&checkpoint)
		if err != nil {
			return err
		}
		spent = steps.Event()
	case !errors.Is(err, fs.ErrNotExist):
		return status.With(status.Usage, fmt.Errorf("%s: %w", folder.path, err))
	case j.ID == "":
		return status.Usagef("%s holds no fit", folder.path)
	default:
		if spent, err = folder.spentWhole(); err != nil {
			return status.With(status.Usage, fmt.Errorf("%s: %w", folder.path, err))
		}
	}
	if folder.released() {
		return status.Usagef("%s: the fit is finished (d3p ledger add books it)", folder.path)
	}
	known := j.Attempts
	j = j.nextAttempt() // should a copy of the folder be at work, it will not release
	if err := folder.write(jobFile, j); err != nil {
		return err
	}
	_, err = ledger.Update(path, func(book *ledger.Ledger) error {
		switch reserved, err := book.Has(j.ID, ledger.Reserved); {
		case err != nil:
			return err
		case !reserved:
			return fmt.Errorf("%s holds no reservation of %s", path, folder.path)
		}
		return errors.Join(book.Holds(j.ID, known, true), book.Settle(j.reservation().run, spent, time.Now()))
	})
	if err != nil {
		return status.With(status.Usage, err)
	}
	folder.giveSpaceBack()
	return nil
}

// spentWhole is what a fit without a checkpoint spent before it ended itself, by its own ledger, if the ledger of the
// data set could not be written then; nil if the fit was killed.
func (r folder) spentWhole() (event.Event, error) {
	var own privacy.Ledger
	switch err := r.read(ledgerFile, &own); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return own.Event(), nil
}

// ReadLedger reads the run's own ledger. ok is false if the folder has no private/: it
// is a release alone.
func ReadLedger(run string) (own privacy.Ledger, ok bool, err error) {
	if _, err := os.Stat(filepath.Join(run, privateName)); err != nil {
		return own, false, nil
	}
	root, err := os.OpenRoot(run)
	if err != nil {
		return own, true, err
	}
	defer root.Close()
	return own, true, folder{path: run, root: root}.read(ledgerFile, &own)
}
