package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"d3p/internal/atomicfile"
	"d3p/internal/privacy"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// Reopen opens the stopped fit in a folder, for Resume. The caller completes it with
// Root, Key and Host, and closes it. data is the path of records that have moved, or "".
func Reopen(path, data string) (r *Run, err error) {
	r = new(Run)
	if r.folder, err = openFolder(path); err != nil {
		return nil, err
	}
	if err := r.reopen(data); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close lets go of the folder of a run from Reopen.
func (r *Run) Close() {
	if r.unlock != nil {
		r.unlock()
	}
	r.folder.close()
}

// reopen locks the folder of r and reads it.
func (r *Run) reopen(data string) (err error) {
	path := r.folder.path
	if r.folder.released() { // even if there is a checkpoint, because the run was paid once
		return status.Usagef("%s holds no stopped fit", path)
	}
	if r.unlock, err = r.folder.lock(); err != nil {
		return err
	}
	for _, name := range []string{jobFile, ledgerFile, checkpointFile} {
		atomicfile.CleanUp(r.folder.root, inPrivate(name))
	}
	job, checkpoint, err := r.folder.stoppedFit()
	if errors.Is(err, fs.ErrNotExist) {
		return r.folder.noCheckpoint(job)
	}
	if err != nil {
		return status.With(status.Usage, fmt.Errorf("%s: %w", path, err))
	}
	if checkpoint.Plan.Selection != nil { // a release other than the one that the selection paid
		return status.Usagef("%s: a fit of a selection that was killed is never released (d3p select starts another one, at its price)", path)
	}
	r.Job, r.checkpoint, r.Plan = job.nextAttempt(), &checkpoint, checkpoint.Plan
	if data != "" {
		if r.Job.Data, err = privacy.AbsoluteData(data); err != nil {
			return status.With(status.Data, err)
		}
	}
	r.Model, err = r.Job.compile(r.Plan.Settled())
	return err
}

// noCheckpoint is the reason why a fit cannot be resumed.
func (r folder) noCheckpoint(j Job) error {
	path := r.path
	switch {
	case j.ID == "":
		return status.Usagef("%s holds no stopped fit", path)
	case r.read(ledgerFile, new(privacy.Ledger)) == nil:
		return status.Usagef("%s: the fit ended itself, and released nothing; its price is in %s, and a new fit pays again", path, filepath.Join(r.private(), ledgerFile))
	case j.Ledger != "":
		return status.Usagef("%s: the fit was killed before its first checkpoint, and released nothing; start it again in a new folder (d3p ledger settle LEDGER %s returns its reservation)", path, spell.Word(path))
	}
	return status.Usagef("%s: the fit was killed before its first checkpoint, and released nothing; start it again in a new folder", path)
}
