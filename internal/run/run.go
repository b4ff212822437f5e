// Package run is a fit on disk: its folder, its lock, its checkpoints, its place in
// the ledger of the data set and its release.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"d3p/internal/atomicfile"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/signature"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// A Run is a job with its model, plan and host, but without a folder.
type Run struct {
	Job   Job
	Model *models.Model
	Plan  *plan.Plan
	Root  noise.Root     // of its batches and its noise
	Key   *signature.Key // signs the release; nil: it is not signed
	Host  Host
	Ranks Ranks // zero: this process alone
	// Booked is the ledger that is charged for the selection with this trial, in place of
	// the job's ledger.
	Booked string

	folder     folder
	checkpoint *fit.Checkpoint  // nil: a new fit
	table      *privacy.Table   // nil: the job's own
	columns    *privacy.Columns // nil: the job's own
	engine     *Engine          // nil: one is opened
	repeated   bool             // one of several fits that share a table
	more       bool             // the other processes wait for a task after this fit
	trial      bool             // one of a selection, which removes its folder if it fails
	scratch    *os.Root         // for the table of a process that follows another; nil: the folder's
	unlock     func()           // the folder that Reopen has locked
}

// Host is the program around a run.
type Host struct {
	// Open opens the engine that the job of r asks for, for a number of fits side by
	// side. It reports the engine by r.Host.Notef.
	Open func(r Run, fits int) (*Engine, error)
	// Tool describes the program in a report.
	Tool func(engine string) report.Tool
	// Step is called for each finished step, see fit.Observer, with the sampling rate;
	// nil: no call.
	Step func(t, steps int, rate float64, epsilonSpent func() float64)
	// Notef prints a line for the user.
	Notef func(format string, args ...any)
}

// An Engine is open until Close.
type Engine struct {
	privacy.Engine
	Together int // fits that may use it at the same time
	Close    func() error
}

// Fit runs r in the new folder out. out may be an empty folder of this user alone, or the
// folder of a run that could not read its data; "" takes the first free d3p-run-NAME-1,
// -2, ... in the working directory.
func (r Run) Fit(ctx context.Context, out string) (*Result, error) {
	folder, err := newFolder(out, r.Job.Name)
	if err != nil {
		return nil, err
	}
	r.folder, r.Job.Folder = folder, folder.name()
	return r.execute(ctx)
}

// Resume continues from the checkpoint of r, which Reopen has read.
func (r Run) Resume(ctx context.Context) (*Result, error) { return r.execute(ctx) }

// discard removes the folder of a new fit. A stopped fit keeps its files.
func (r Run) discard() {
	if r.checkpoint == nil {
		r.folder.discard()
	}
}

// execute runs the job in its folder: all of it, or the steps after a checkpoint.
func (r Run) execute(ctx context.Context) (*Result, error) {
	if r.checkpoint == nil {
		unlock, err := r.folder.lock() // Reopen has locked the folder of a stopped fit
		if err != nil {
			r.discard()
			return nil, err
		}
		defer unlock()
	}
	released, err := r.Job.compile(r.Plan.Settled())
	if err != nil {
		r.discard()
		return nil, err
	}
	if r.Plan.ByMarginals() {
		return r.synthesise(ctx, released)
	}
	if r.Ranks.Several() { // the others compile this form, in which a default is as good as declared
		r.Model = released
		if err := r.Plan.Bind(released); err != nil {
			r.discard()
			return nil, err
		}
	}
	if r.engine == nil {
		if r.engine, err = r.Host.Open(r, 1); err != nil {
			r.discard()
			return nil, err
		}
		defer r.engine.Close()
	}
	r.Job.Engine = r.engine.Name()
	if r.Ranks.Several() {
		r.Job.Processes = r.Ranks.Job.Size
	}
	if err := r.prepare(released); err != nil {
		r.discard()
		return nil, err
	}
	result, err := r.fit(ctx)
	if next := r.onProcessor(result, err); next != nil {
		defer next.engine.Close()
		r = *next
		result, err = r.fit(ctx)
	}
	return r.conclude(released, result, err)
}

// conclude settles the ledger of a fit and writes its release, or keeps the steps of one that was stopped.
func (r Run) conclude(released *models.Model, result *fit.Result, err error) (*Result, error) {
	if result == nil {
		return nil, err
	}
	if len(result.Spent.Entries) > 0 {
		err = errors.Join(err, r.folder.write(ledgerFile, result.Spent))
	}
	unbooked := r.Job.reservation().settle(result.Spent)
	if err == nil && unbooked == nil {
		if bought := r.Plan.Settled(); !bought.None() {
			if released, err = r.Job.compile(bought); err != nil {
				return nil, err
			}
		}
		return r.release(released, result)
	}
	if err == nil {
		err, unbooked = unbooked, nil
	}
	err = r.stopped(result, err)
	return nil, status.With(status.Of(err), errors.Join(err, unbooked))
}

// onProcessor is the run that continues r on the processor, if the card failed and the job
// asks for that; else nil.
func (r Run) onProcessor(result *fit.Result, err error) *Run {
	var failed *privacy.EngineError
	if r.Job.Device != settings.DeviceCUDAThenCPU || result == nil || !result.Began() || r.Ranks.Several() || !errors.As(err, &failed) {
		return nil
	}
	checkpoint, err := result.Checkpoint()
	if err != nil {
		return nil
	}
	r.checkpoint, r.table, r.Job.Device = &checkpoint, nil, settings.DeviceCPU
	if r.Model, err = r.Job.compile(r.Plan.Settled()); err != nil { // with what the plan bought
		return nil
	}
	engine, err := r.Host.Open(r, 1)
	if err != nil {
		return nil
	}
	r.Host.Notef("note: %v; going on on %s after %d steps", failed, engine.Name(), checkpoint.State.Step)
	r.engine, r.Job.Engine = engine, r.Job.Engine+", then "+engine.Name()
	return &r
}

// endedItself reports whether err followed from what the fit released: it is no stop of its user or of a machine.
func endedItself(err error) bool {
	refused := new(status.Error)
	return errors.Is(err, fit.ErrNonFinite) || errors.As(err, &refused) && refused.Code == status.Spec
}

// wholePrice is the ledger of a fit that pays for its whole plan: its own releases decided what it asked for, or in
// which step it ended, so the price of what it did release would depend on the records.
func (r Run) wholePrice(spent privacy.Ledger) privacy.Ledger {
	spent.Entries = []privacy.Entry{{Time: r.Job.Created, Purpose: "fit", Event: r.price(), Steps: r.Plan.Steps, Authorised: r.Plan.Steps}}
	return spent
}

// price is the event of the planned fit.
func (r Run) price() event.Event { return r.Plan.MechanismEvent(r.Plan.NoiseMultiplier) }

// checkFinite refuses a new private fit that cannot have a result.
func (r Run) checkFinite() error {
	if r.checkpoint != nil || !r.Plan.Private {
		return nil
	}
	return status.With(status.Spec, fit.CheckFinite(r.Plan))
}

// prepare checks the plan and the writing of its release, and sets disk space and budget
// aside, so that what can fail does so before privacy is spent. The model is as the release
// has it.
func (r Run) prepare(m *models.Model) error {
	if err := r.checkFinite(); err != nil {
		return err
	}
	if err := r.Ranks.takes(r.Plan); err != nil {
		return err
	}
	if err := r.checkWritable(m); err != nil {
		return err
	}
	if err := r.folder.prepare(r.Job, releaseBytes(r.Model, r.Job.Draws)); err != nil {
		return err
	}
	err := r.reserve(r.price(), r.Job.reservation())
	if err != nil {
		r.folder.giveSpaceBack()
	}
	return err
}

// fit reads the records and runs the steps. The result is nil if no step was tried.
func (r Run) fit(ctx context.Context) (*fit.Result, error) {
	private, err := r.folder.root.OpenRoot(privateName)
	if err != nil {
		return nil, status.With(status.Numeric, err)
	}
	defer private.Close()
	var columns *privacy.Columns
	if r.table == nil && !r.Plan.ToCount() && !r.Plan.Open() && !r.Plan.ReadsColumns() { // chains of a sampler share it
		if r.spreads() {
			columns = r.columnsOf(r.Model, private)
		} else {
			r.table = privacy.NewTable(r.tableConfig(r.Model, r.Root, private))
		}
	}
	err = r.begin()
	var curator *privacy.Curator
	if err == nil && columns != nil {
		curator, err = r.settlePriors(columns, private)
		r.table = columns.Table()
	}
	if err == nil {
		curator, err = r.curator(private)
		err = r.Ranks.agree(err)
	}
	if err != nil {
		spent, unread := spentAt(r.checkpoint)
		if unread != nil {
			return nil, unread
		}
		if curator != nil {
			spent = curator.Ledger()
		}
		var over *privacy.BudgetError
		if errors.As(err, &over) {
			return &fit.Result{Spent: spent}, err
		}
		err = atomicfile.Named(r.Job.Data, err)
		switch {
		case r.checkpoint != nil:
		case len(spent.Entries) == 0:
			r.folder.keepDataCheck()
		default:
			r.folder.giveSpaceBack()
			err = r.priced(err, "the price of what the fit bought")
			err = errors.Join(err, r.folder.write(ledgerFile, spent))
		}
		if unbooked := r.Job.reservation().settle(spent); unbooked != nil {
			err = errors.Join(err, unbooked)
		}
		return nil, status.With(status.Data, err)
	}
	observer := newObserver(r)
	result, err := r.steps(ctx, curator, observer)
	observer.stop()
	if r.Plan.Private && endedItself(err) {
		result.Spent = r.wholePrice(result.Spent)
		r.folder.remove(checkpointFile) // of steps before: other numbers than those that showed would follow
	}
	return result, err
}

// spreads reports whether default priors of a fit without privacy follow from its records.
func (r Run) spreads() bool {
	return !r.Plan.Private && len(r.Plan.Spread) > 0 && r.Plan.Priors == nil && r.checkpoint == nil && !r.Ranks.Several()
}

// steps takes the steps that are left.
func (r Run) steps(ctx context.Context, c *privacy.Curator, observer fit.Observer) (*fit.Result, error) {
	if r.Ranks.Several() {
		ctx = r.Ranks.inStep.follow(ctx)
	}
	var result fit.Result
	var err error
	if len(r.Plan.Before()) > 0 { // the plan has changed since prepare
		err = r.checkFinite()
	}
	switch {
	case err != nil:
		result.Spent = c.Ledger()
	case r.checkpoint == nil && r.Plan.Method == settings.MethodNUTS:
		result, err = fit.Sample(ctx, r.Plan, c, r.curators(), observer)
	case r.checkpoint == nil:
		result, err = fit.Run(ctx, r.Plan, c, observer)
		// parallel fits share a table, which has the derived columns of one tape; processes
		// step together
		if err == nil && !r.Plan.Private && !r.repeated && !r.Ranks.Several() {
			result.Unconverged, err = fit.Unconverged(ctx, r.Plan, result.Posterior, c)
		}
	default:
		result, err = fit.Resume(ctx, *r.checkpoint, r.Model, c, observer)
	}
	return &result, err
}

// stopped ends a run before its last step. The ledger has its price, and a checkpoint lets
// Resume continue. A run that spent nothing leaves no file; a resumed one keeps its files.
func (r Run) stopped(result *fit.Result, cause error) error {
	r.folder.giveSpaceBack()
	found := status.Numeric
	var over *privacy.BudgetError
	if errors.As(cause, &over) {
		found = status.Budget
	}
	switch {
	case !result.Began() && r.checkpoint != nil:
		return status.With(found, fmt.Errorf("%w; the fit stays stopped where it was", cause))
	case len(result.Spent.Entries) == 0 || found == status.Budget:
		r.folder.discard()
		return status.With(found, cause)
	case !result.Began():
		if marked := new(status.Error); errors.As(cause, &marked) {
			found = marked.Code
		}
		return status.With(found, r.priced(cause, "the price of what the fit bought"))
	}
	checkpoint, err := result.Checkpoint()
	if err == nil {
		err = r.folder.write(checkpointFile, checkpoint)
	}
	switch {
	case errors.Is(cause, fit.ErrStopped):
	case err != nil || r.trial: // a state that left the range of numbers cannot be written
		return status.With(status.Numeric, r.priced(cause, "its price"))
	default:
		device := ""
		if engine := new(privacy.EngineError); errors.As(cause, &engine) {
			device = " --device cpu"
		}
		return status.With(status.Numeric, fmt.Errorf("%w (d3p resume %s%s tries again from there)", r.priced(cause, "its price"), spell.Word(r.folder.path), device))
	}
	if err != nil {
		return status.With(status.Numeric, errors.Join(cause, err))
	}
	r.checkpoint = &checkpoint
	finish := ""
	if r.CanFinish() {
		finish = fmt.Sprintf(", d3p finish %s releases the result so far", spell.Word(r.folder.path))
	}
	return status.With(status.Stopped, fmt.Errorf("stopped after %d of %d steps; their price is in %s (d3p resume %s continues at no new cost%s)",
		checkpoint.State.Step, checkpoint.Plan.Steps, filepath.Join(r.folder.private(), ledgerFile), spell.Word(r.folder.path), finish))
}

// priced is cause with the place of a price. The folder of a trial that failed is removed: the selection has the price.
func (r Run) priced(cause error, price string) error {
	if r.trial {
		return cause
	}
	return fmt.Errorf("%w; %s is in %s", cause, price, filepath.Join(r.folder.private(), ledgerFile))
}
