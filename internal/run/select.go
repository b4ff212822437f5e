package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"path/filepath"
	"time"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/status"
)

// Names below private/ of a selection.
const (
	trialName = "trial" // the fit that runs
	bestName  = "best"  // the best so far
)

// Select runs one of the given fits at a time, chosen uniformly, and scores it, until a
// coin that is independent of the records stops it. The fit with the highest score becomes
// the release of the new folder out; the others are removed. The number of fits is secret:
// Select prints nothing, and charges the ledger for the whole selection before a record is
// read. score returns the score of the run in a folder. An error of a fit or of its score
// ends the selection, as if its score were the highest.
func Select(ctx context.Context, trials []Run, out string, score func(ctx context.Context, folder string) (float64, error)) (*Result, error) {
	first := trials[0]
	s := first.Plan.Selection
	ev, err := s.Event()
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	folder, err := newFolder(out, first.Job.Name)
	if err != nil {
		return nil, err
	}
	defer folder.close()
	unlock, err := folder.lock()
	if err != nil {
		folder.discard()
		return nil, err
	}
	defer unlock()
	for _, t := range trials {
		t.folder = folder
		if err := t.check(); err != nil {
			folder.discard()
			return nil, err
		}
	}
	booking := first.Job
	booking.Ledger, booking.Folder = first.Booked, folder.name()
	place := booking.reservation()
	if err := first.reserve(ev, place); err != nil {
		folder.discard()
		return nil, err
	}
	spent := privacy.Ledger{Relation: first.Plan.Neighbours, Entries: []privacy.Entry{{Time: first.Job.Created, Purpose: "selection", Event: ev, Steps: 1, Authorised: 1}}}
	if err := errors.Join(place.settle(spent), folder.write(ledgerFile, spent)); err != nil {
		return nil, err
	}
	best, highest, err := folder.best(ctx, trials, s.MeanTrials, score)
	if err != nil {
		kind := status.Of(err)
		if ctx.Err() != nil { // a trial's message is about itself
			kind, err = status.Interrupted, errors.New("the selection was stopped")
		}
		err = errors.Join(err, folder.root.RemoveAll(inPrivate(trialName)), folder.root.RemoveAll(inPrivate(bestName)))
		return nil, status.With(kind, fmt.Errorf("%w; nothing was released, and the price of the selection stays spent: it is in %s (d3p select with another --out starts a new one, which pays again)", err, filepath.Join(folder.private(), ledgerFile)))
	}
	return folder.releaseBest(best, highest, first.Job.Created)
}

// best runs trials until the coin falls and leaves the best one in private/best.
func (r folder) best(ctx context.Context, trials []Run, meanTrials int, score func(ctx context.Context, folder string) (float64, error)) (best *Result, highest float64, err error) {
	var last *Result
	try := func(k int) (float64, error) {
		one, own := trials[k], *trials[k].Plan // a fit fills in its purchases
		one.Plan, one.trial = &own, true
		var err error
		if one.Root, err = noise.System(); err != nil {
			return 0, err
		}
		defer one.Root.Wipe()
		path := filepath.Join(r.private(), trialName)
		if last, err = one.Fit(ctx, path); err != nil {
			return 0, err
		}
		return score(ctx, path)
	}
	keep := func(better bool) error {
		if !better {
			return status.With(status.Numeric, r.root.RemoveAll(inPrivate(trialName)))
		}
		best = last
		return status.With(status.Numeric, errors.Join(r.root.RemoveAll(inPrivate(bestName)), r.root.Rename(inPrivate(trialName), inPrivate(bestName))))
	}
	highest, err = untilStopped(len(trials), meanTrials, try, keep)
	return best, highest, err
}

// untilStopped tries one of n, chosen uniformly, and keeps it if its score is the highest so
// far; a score that is no number is the lowest. After each it stops with probability
// 1/mean.
func untilStopped(n, mean int, try func(k int) (float64, error), keep func(better bool) error) (highest float64, err error) {
	for first := true; ; first = false {
		score, err := try(below(n))
		if err != nil {
			return 0, err
		}
		if math.IsNaN(score) {
			score = math.Inf(-1)
		}
		better := first || score > highest
		if better {
			highest = score
		}
		if err := keep(better); err != nil {
			return 0, err
		}
		if below(mean) == 0 {
			return highest, nil
		}
	}
}

// releaseBest makes the best trial the run of the folder.
func (r folder) releaseBest(best *Result, score float64, created time.Time) (*Result, error) {
	from := inPrivate(bestName) + "/"
	err := errors.Join(
		r.root.Rename(from+inPrivate(jobFile), inPrivate(jobFile)),
		r.rename(),
		r.root.Rename(from+inPrivate(privacy.DataCheckName), inPrivate(privacy.DataCheckName)),
		r.root.Rename(from+releaseName, releaseName),
		r.root.RemoveAll(inPrivate(bestName)),
		r.date(created),
	)
	if err != nil {
		return nil, status.With(status.Numeric, err)
	}
	r.remove(lockFile)
	best.Run, best.Release, best.Private, best.Score = r.path, r.release(), r.private(), &score
	return best, nil
}

// rename gives the job in the folder the folder's name.
func (r folder) rename() error {
	var j Job
	if err := r.read(jobFile, &j); err != nil {
		return err
	}
	j.Folder = r.name()
	return r.write(jobFile, j)
}

// date gives every file of the release the time at which the selection began: other times
// would show the number of trials before the best one.
func (r folder) date(created time.Time) error {
	return fs.WalkDir(r.root.FS(), releaseName, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return r.root.Chtimes(path, created, created)
	})
}

// below is uniform in 0, ..., n-1, from the operating system's random numbers.
func below(n int) int {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // crypto/rand aborts the program instead
	}
	return int(i.Int64())
}
