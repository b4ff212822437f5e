package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"d3p/internal/cluster"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/status"
)

// task is the work that rank 0 sends to the other processes of a job. Without a Plan they
// have nothing to do: rank 0 has failed and reports the reason itself.
type task struct {
	Job        Job             `json:"job"`
	Plan       *plan.Plan      `json:"plan"`
	Checkpoint *fit.Checkpoint `json:"checkpoint"`
	Folder     string          `json:"folder"` // of the run, an absolute path
	More       bool            `json:"more"`   // another task comes after this one
}

var errMarginalsInRanks = status.Usagef("the engine marginals runs in one process (leave out mpirun, or write `engine: mixture`)")

// Ranks are the processes that a fit runs in.
type Ranks struct {
	Job    *cluster.Job
	told   *bool // the others have their last task
	inStep *inStep
}

// NewRanks are the processes of a job.
func NewRanks(j *cluster.Job) Ranks { return Ranks{Job: j, told: new(bool), inStep: &inStep{job: j}} }

// Dismiss sends an empty task to the other processes of a job, unless they have their
// last one, and leaves the job.
func (r Ranks) Dismiss() error {
	var err error
	if r.Job.Rank == 0 && !*r.told {
		err = r.tell(task{})
	}
	return errors.Join(err, r.Job.Close())
}

// SameCommand returns an error on all processes unless all are the same program with the same
// arguments, and all that have a model file have the same one. Only the first process reads
// settings and model file: those of the others would have no effect. Another program may deal
// out the records in other shares.
func (r Ranks) SameCommand(program string, words []string, model []byte) error {
	if !r.Several() {
		return nil
	}
	type command struct {
		Program string   `json:"program"`
		Words   []string `json:"words"`
		Model   []byte   `json:"model"`
	}
	own, err := json.Marshal(command{program, words, model})
	if err != nil {
		return err
	}
	text, err := r.Job.Broadcast(own)
	var first command
	if err == nil {
		err = json.Unmarshal(text, &first)
	}
	switch {
	case err != nil:
	case first.Program != program:
		err = errors.New("is another build of d3p than rank 0 (copy the program of rank 0 to all machines)")
	case !slices.Equal(first.Words, words):
		err = errors.New("was started with another command than rank 0 (start all processes with the same settings, model file and data)")
	case len(model) > 0 && !bytes.Equal(first.Model, model):
		err = errors.New("has another model file than rank 0 (copy that of rank 0 to all machines)")
	}
	return status.With(status.Usage, r.Job.Agree(err))
}

// Several reports whether there are other processes.
func (r Ranks) Several() bool { return r.Job != nil && r.Job.Size > 1 }

// takes is an error if the processes cannot run a plan together.
func (r Ranks) takes(p *plan.Plan) error {
	if r.Several() && p.OpenLevels() {
		return status.Usagef("levels are bought in one process (leave out mpirun, or list the levels)")
	}
	return nil
}

// agree is the first error of any process.
func (r Ranks) agree(err error) error {
	if !r.Several() {
		return err
	}
	return r.Job.Agree(err)
}

func (r Ranks) tell(t task) error {
	*r.told = !t.More
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = r.Job.Broadcast(text)
	return err
}

// begin sends the task to the other processes and waits until all are ready.
func (r Run) begin() error {
	if !r.Ranks.Several() {
		return nil
	}
	folder, err := filepath.Abs(r.folder.path)
	if err != nil {
		return status.With(status.Numeric, err)
	}
	t := task{Job: r.Job, Plan: r.Plan, Checkpoint: r.checkpoint, Folder: folder, More: r.more}
	t.Job.Sign, t.Job.Ledger = "", "" // of rank 0 alone
	if err := r.Ranks.tell(t); err != nil {
		return err
	}
	return r.Ranks.agree(nil)
}

// Follow takes part in the fits that rank 0 runs, as another process of the job. It
// returns only errors that rank 0 does not report.
func Follow(ranks Ranks, host Host) error {
	var own error
	for {
		text, err := ranks.Job.Broadcast(nil)
		if err != nil {
			return errors.Join(own, err)
		}
		var t task
		if err := json.Unmarshal(text, &t); err != nil {
			return errors.Join(own, err)
		}
		if t.Plan == nil {
			return own
		}
		r := Run{Job: t.Job, Plan: t.Plan, Ranks: ranks, Host: host, checkpoint: t.Checkpoint}
		if err := r.followIn(t.Folder); own == nil {
			own = err
		}
		if !t.More {
			return own
		}
	}
}

// followIn takes part in one fit. Its share of the table may be in the private folder of
// the run, if this machine has that.
func (r Run) followIn(path string) error {
	if folder, err := openFolder(path); err == nil {
		defer folder.close()
		if r.scratch, err = folder.root.OpenRoot(privateName); err == nil {
			defer r.scratch.Close()
		}
	}
	return r.follow()
}

// follow takes part in one fit.
func (r Run) follow() error {
	err := r.open()
	if err == nil {
		defer r.Root.Wipe()
		defer r.engine.Close()
	}
	if r.Ranks.agree(err) != nil {
		return nil // rank 0 reports it
	}
	curator, err := r.curator(nil)
	if r.Ranks.agree(err) != nil {
		return nil // rank 0 reports it
	}
	_, err = r.steps(context.Background(), curator, endObserver(r.Ranks.inStep.ended))
	var own *privacy.RankError
	if errors.As(err, &own) && own.Own != nil {
		return err
	}
	return nil // any other reason to end the steps ends them on rank 0, too
}

// open makes the engine and the curator of a process other than rank 0.
func (r *Run) open() (err error) {
	if r.Model, err = r.Job.compile(r.Plan.Settled()); err != nil {
		return err
	}
	if err = r.Plan.Bind(r.Model); err != nil {
		return err
	}
	if r.Job.Insecure {
		r.Root = noise.Insecure(r.Job.Seed)
	} else if r.Root, err = noise.System(); err != nil {
		return err
	}
	r.engine, err = r.Host.Open(*r, 1)
	return err
}

// inStep are the processes of a job for a curator. All stop after the step in which rank 0
// is cancelled.
type inStep struct {
	job    *cluster.Job
	told   context.Context // of this process; only rank 0's counts
	stop   context.CancelFunc
	buffer []float64 // the shared numbers, and 1 to stop
}

// follow is the context in which all processes take their steps; ctx is that of this
// process.
func (s *inStep) follow(ctx context.Context) context.Context {
	s.told = ctx
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	return ctx
}

// ended is called after the last step. Then the context is that of this process on rank 0, and
// ends on the others, so that they compute no posterior, which only rank 0 releases.
func (s *inStep) ended() {
	if s.job.Rank > 0 {
		s.stop()
		return
	}
	context.AfterFunc(s.told, s.stop)
}

// endObserver is called after the last step of a fit.
type endObserver func()

// Step implements fit.Observer.
func (ended endObserver) Step(t, steps int, _ func() float64) {
	if t == steps {
		ended()
	}
}

func (s *inStep) Rank() int             { return s.job.Rank }
func (s *inStep) Size() int             { return s.job.Size }
func (s *inStep) Add(x []float64) error { return s.job.Add(x) }

// Share sends x from rank 0, and whether to stop.
func (s *inStep) Share(x []float64) error {
	s.buffer = append(append(s.buffer[:0], x...), 0)
	last := len(x)
	if s.job.Rank == 0 && s.told != nil && s.told.Err() != nil { // nothing stops before the steps
		s.buffer[last] = 1
	}
	if err := s.job.Share(s.buffer); err != nil {
		return err
	}
	copy(x, s.buffer)
	if s.buffer[last] != 0 {
		s.stop()
	}
	return nil
}
