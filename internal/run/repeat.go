package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"d3p/internal/privacy"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// mostRepeats bounds the fits of Repeat: each is a folder.
const mostRepeats = 1000

// Repeat runs n fits like r side by side, as many at a time as there are processors, or as
// the engine takes, in OUT-1, OUT-2, ... and calls done with k, from 0, after each. They
// share the model and the records, which are read once. Each draws its own noise and
// batches and has its own price: either the ledger reserves all of them, or none runs.
//
// Several processes take part in one fit at a time, and read their records for each.
func (r Run) Repeat(ctx context.Context, out string, n int, done func(k int, folder string, result *Result, err error)) error {
	switch {
	case n > mostRepeats:
		return status.Usagef("--repeat: %d fits; at most %d", n, mostRepeats)
	case r.Ranks.Several() && r.Plan.ByMarginals():
		return errMarginalsInRanks
	case !r.Ranks.Several() && r.Job.TablePlace == settings.TableDisk:
		return status.Usagef("--repeat: fits side by side share a table in memory (leave --table disk out)")
	case r.Plan.Private && r.Job.Ledger == "" && !r.Job.Insecure:
		return status.Usagef("--repeat: %d fits cost more than the --epsilon of each; name the --ledger of the data set, which charges them together (d3p ledger init makes one)", n)
	}
	if err := r.Ranks.takes(r.Plan); err != nil {
		return err
	}
	atOnce, onEngine := min(n, runtime.GOMAXPROCS(0)), n
	if r.Ranks.Several() {
		atOnce, onEngine = 1, 1
	} else if r.Job.Threads == 0 {
		r.Job.Threads = runtime.GOMAXPROCS(0) / atOnce
	}
	switch { // each fit encodes the records as its own purchase suggests
	case r.Ranks.Several(), r.Plan.Open():
	case r.Plan.ToCount(), r.Plan.ReadsColumns():
		r.columns = r.columnsOf(r.Model, nil)
	default:
		r.table, r.repeated = r.Job.Table(r.Model, r.Root), true
	}
	all, err := r.replicates(out, n)
	var engine *Engine
	if err == nil {
		if engine, err = r.Host.Open(r, onEngine); err == nil {
			defer engine.Close()
			places := make([]reservation, n)
			for i, one := range all {
				places[i] = one.Job.reservation()
			}
			err = all[0].reserve(all[0].price(), places...)
		}
	}
	if err != nil {
		for _, one := range all {
			one.folder.discard()
		}
		return err
	}
	if engine.Together > 1 {
		atOnce = min(onEngine, engine.Together)
		for k := range all {
			all[k].engine = engine
		}
	}
	sideBySide(ctx, all, atOnce, done)
	return nil
}

// sideBySide executes all in order, up to atOnce at a time. Each wipes its random numbers at the end.
func sideBySide(ctx context.Context, all []Run, atOnce int, done func(k int, folder string, result *Result, err error)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for k, one := range all {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			defer one.Root.Wipe()
			if err := ctx.Err(); err != nil { // stopped before it began
				err = status.With(status.Of(err), errors.Join(err, one.Job.reservation().settle(privacy.Ledger{})))
				one.folder.discard()
				done(k, one.folder.path, nil, err)
				return
			}
			result, err := one.execute(ctx)
			done(k, one.folder.path, result, err)
		})
	}
	wait.Wait()
}

// replicates prepares n fits, which report no steps. On an error it returns those that have
// folders.
func (r Run) replicates(out string, n int) (all []Run, err error) {
	for k := range n {
		path := out
		if path != "" {
			path = fmt.Sprintf("%s-%d", path, k+1)
		}
		one, own := r, *r.Plan
		one.Plan, one.more = &own, true
		if one.folder, err = newFolder(path, r.Job.Name); err != nil {
			return all, err
		}
		one.Job, one.Root = r.Job.replicate(k, one.folder), r.Root.Child(uint64(k))
		one.Host.Step, one.Host.Notef = nil, func(string, ...any) {}
		if err := one.folder.write(jobFile, one.Job); err != nil { // Settle reads it, should this process be killed
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}
