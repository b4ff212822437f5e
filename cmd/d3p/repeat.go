package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"d3p/internal/fit/plan"
	"d3p/internal/gpu"
	"d3p/internal/ledger"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/signature"
)

// mostRepeats bounds --repeat: each fit is a folder.
const mostRepeats = 1000

// A replicate is one of several fits with the same settings. They share the model
// and the records, which are read once.
type replicate struct {
	folder runFolder
	job    job
	root   noise.Root
	out    bytes.Buffer
	err    error
}

// repeat runs s.Repeat fits like j side by side, as many at a time as there are
// processors, or on a CUDA device as one launch takes, in OUT-1, OUT-2, ... Each
// draws noise and batches of its own and is charged by itself: all of them are
// reserved in the ledger, or none is run.
func (a *app) repeat(ctx context.Context, s *runSettings, j job, m *models.Model, plan *plan.Plan, root noise.Root, key *signature.Key) error {
	switch {
	case s.Repeat > mostRepeats:
		return usagef("--repeat: %d fits; at most %d", s.Repeat, mostRepeats)
	case !s.Fit.NonPrivate && j.Ledger == "" && !j.Insecure:
		return usagef("--repeat: %d fits cost more than the --epsilon of each; name the --ledger of the data set, which charges them together (d3p ledger init makes one)", s.Repeat)
	}
	atOnce := min(s.Repeat, runtime.GOMAXPROCS(0))
	if j.Threads == 0 {
		j.Threads = runtime.GOMAXPROCS(0) / atOnce
	}
	all, err := replicates(s, j, root)
	from := shared{table: j.table(m, root), key: key}
	if err == nil {
		var closeEngine func() error
		if from.engine, closeEngine, err = a.openEngine(j, m, plan, s.Repeat); err == nil {
			defer closeEngine()
			err = reserveAll(all, m, plan)
		}
	}
	if err != nil {
		for _, r := range all {
			r.folder.discard()
		}
		return err
	}
	if _, ok := from.engine.(*gpu.Engine); ok {
		atOnce = min(s.Repeat, gpu.MostTogether)
	} else {
		from.engine = nil // of processors each has its own
	}
	var wait sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, r := range all {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			defer r.root.Wipe()
			if r.err = ctx.Err(); r.err != nil { // stopped before it began
				r.err = failWith(statusOf(r.err), errors.Join(r.err, r.job.booking().settle(privacy.Ledger{})))
				r.folder.discard()
				return
			}
			alone := app{out: &r.out, err: io.Discard, environ: a.environ, json: a.json, quiet: true}
			r.err = alone.execute(ctx, r.folder, r.job, m, plan, from, r.root, nil)
		})
	}
	wait.Wait()
	return a.printAll(all)
}

// replicates prepares the fits. On an error those are returned whose folders
// exist.
func replicates(s *runSettings, j job, root noise.Root) ([]*replicate, error) {
	var all []*replicate
	for k := range s.Repeat {
		out := s.Out
		if out != "" {
			out = fmt.Sprintf("%s-%d", out, k+1)
		}
		folder, err := newRunFolder(out, j.Name)
		if err != nil {
			return all, err
		}
		own := j.replicate(k, folder)
		if err := folder.write(jobFile, own); err != nil { // d3p ledger settle reads it, should this d3p be killed
			return all, err
		}
		all = append(all, &replicate{folder: folder, job: own, root: root.Child(uint64(k))})
	}
	return all, nil
}

// reserveAll sets budget aside for all fits, or for none.
func reserveAll(all []*replicate, m *models.Model, plan *plan.Plan) error {
	b := all[0].job.booking()
	if b.path == "" {
		return nil
	}
	_, err := ledger.Update(b.path, func(book *ledger.Book) error {
		for _, r := range all {
			if err := sameClaim(book, m.Spec.Data.Unit.Entity.V, plan.Neighbours); err != nil {
				return err
			}
			if err := r.job.booking().reserveIn(book, plan); err != nil {
				return err
			}
		}
		return nil
	})
	return b.failed(err)
}

// printAll prints the fits' results in their order, with --json as an array, and
// returns the errors of those that failed.
func (a *app) printAll(all []*replicate) error {
	var errs []error
	var done [][]byte
	for _, r := range all {
		if r.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.folder.path, r.err))
			continue
		}
		done = append(done, bytes.TrimRight(r.out.Bytes(), "\n"))
	}
	between, end := []byte("\n\n"), "\n"
	if a.json {
		fmt.Fprint(a.out, "[")
		between, end = []byte(","), "]\n"
	}
	if _, err := fmt.Fprintf(a.out, "%s%s", bytes.Join(done, between), end); err != nil {
		errs = append(errs, failWith(statusNumeric, err))
	}
	if len(errs) == 0 {
		return nil
	}
	return failWith(statusOf(errs[0]), errors.Join(errs...))
}
