package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"d3p/internal/atomicfile"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/status"
	"d3p/internal/synthesis"
)

// synthesise learns a synthetic table from noisy tables of counts and releases those. It
// writes no checkpoints: if it stops, its price stays in the ledger.
func (r Run) synthesise(ctx context.Context, m *models.Model) (*Result, error) {
	if r.Ranks.Several() {
		r.discard()
		return nil, errMarginalsInRanks
	}
	if err := synthesis.Check(m); err != nil {
		r.discard()
		return nil, status.With(status.Spec, err)
	}
	r.Job.Engine = "cpu"
	if err := r.prepare(m); err != nil {
		r.discard()
		return nil, err
	}
	table, spent, err := r.learn(ctx, m)
	kind := max(status.Of(err), status.Usage)
	if len(spent.Entries) > 0 {
		spent = r.wholePrice(spent) // which tables it asked for, and so the price of each, depends on what they show
		err = errors.Join(err, r.folder.write(ledgerFile, spent))
	}
	if unbooked := r.Job.reservation().settle(spent); unbooked != nil {
		err = errors.Join(err, unbooked)
	}
	r.folder.giveSpaceBack()
	if err != nil {
		var over *privacy.BudgetError
		if errors.As(err, &over) {
			kind = status.Budget
		}
		if len(spent.Entries) == 0 {
			if kind == status.Data {
				r.folder.keepDataCheck()
			} else {
				r.folder.discard()
			}
			return nil, status.With(kind, err)
		}
		return nil, status.With(kind, fmt.Errorf("%w; its price is in %s, and a new fit pays again", err, filepath.Join(r.folder.private(), ledgerFile)))
	}
	written, err := r.writeSynthesis(m, table)
	if err != nil {
		return nil, status.With(status.Numeric, fmt.Errorf("release: %w; its price is in %s", err, filepath.Join(r.folder.private(), ledgerFile)))
	}
	r.folder.remove(lockFile)
	done := &Result{
		Fitted: r.Model,
		Run:    r.folder.path, Release: r.folder.release(), Private: r.folder.private(), Model: written.Name,
		Claim: written.Claim(), Summary: written.Rows(),
	}
	if written.Banner() == "" {
		done.Epsilon, done.Delta = &written.Spent.Upper, &written.Plan.Delta
	}
	return done, nil
}

// learn reads the records and releases counts. The returned ledger has the price so far,
// also with an error.
func (r Run) learn(ctx context.Context, m *models.Model) (*synthesis.Table, privacy.Ledger, error) {
	private, err := r.folder.root.OpenRoot(privateName)
	if err != nil {
		return nil, privacy.Ledger{}, status.With(status.Numeric, err)
	}
	defer private.Close()
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Columns: privacy.NewColumns(privacy.TableConfig{Data: r.Job.Data, Encoding: m.Encoding.Counted(), Root: r.Root}),
		Root:    r.Root, Budget: r.Plan.Budget(), Relation: r.Plan.Relation(), Private: private,
	})
	if err != nil {
		return nil, privacy.Ledger{}, status.With(status.Data, err)
	}
	// Whether the file is readable shows before anything is spent.
	if err := curator.ReadColumns(); err != nil {
		return nil, privacy.Ledger{}, status.With(status.Data, atomicfile.Named(r.Job.Data, err))
	}
	if err := curator.Authorise(r.price()); err != nil {
		return nil, curator.Ledger(), status.With(status.Budget, err)
	}
	table, err := synthesis.Fit(curator, m, synthesis.Config{
		Relation: r.Plan.Relation(), NoiseMultiplier: r.Plan.NoiseMultiplier, Workers: max(1, r.Job.Threads),
		Stop: func() error { // no message between two releases: their number follows from earlier ones
			if ctx.Err() != nil {
				return status.With(status.Interrupted, errors.New("the fit was stopped"))
			}
			return nil
		},
	}, noise.NewRandom(noise.Public(r.Job.Seed).Stream(noise.Twin)))
	return table, curator.Ledger(), err
}

// writeSynthesis writes the release.
func (r Run) writeSynthesis(m *models.Model, table *synthesis.Table) (*report.Run, error) {
	j, p := r.Job, r.Plan
	run := r.described(m, &posterior.Posterior{Plan: p, Steps: p.Steps})
	run.Event = r.price()
	answer, err := accountant.Epsilon(run.Event, p.Neighbours, p.Delta)
	if err != nil {
		return nil, err
	}
	run.Spent = answer
	if run.Booked, err = Booked(j.Ledger, j.ID, m.Spec.Data.Unit.Entity.V, p.Neighbours); err != nil {
		return nil, err
	}
	table.Privacy = run.Banner()
	run.Marginals, run.Utility = table, table.Utility(m)
	return &run, r.publish(&run, releaseName)
}
