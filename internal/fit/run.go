package fit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/fit/start"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// Result is the end of a fit, complete or stopped.
type Result struct {
	Posterior *posterior.Posterior // nil unless the fit ended
	Spent     privacy.Ledger
	// Divergences counts the draws of a sampler whose trajectory diverged.
	Divergences int
	// Unconverged describes the parameters of a variational fit without privacy that have
	// not converged.
	Unconverged []string
	loop        *Loop
	sample      []float64 // of a fit by a sampler
}

// Began reports whether the result has a Checkpoint.
func (r Result) Began() bool { return r.loop != nil || r.sample != nil }

// Checkpoint is the state that continues the fit.
func (r Result) Checkpoint() (Checkpoint, error) {
	if r.sample != nil {
		return r.sampledCheckpoint()
	}
	return r.loop.checkpoint(r.Spent)
}

// Run fits the plan's model to the curator's records. If ctx is cancelled (ErrStopped) or a
// step fails, the result is that of the completed steps. Nothing runs beyond the curator's
// budget.
func Run(ctx context.Context, p *plan.Plan, c *privacy.Curator, obs Observer) (Result, error) {
	switch p.Method {
	case settings.MethodNUTS:
		return Sample(ctx, p, c, nil, obs)
	case settings.MethodOneSample, settings.MethodGibbs:
		return drawPosterior(ctx, p, c, obs)
	case settings.MethodAdaSSP:
		return estimateBySquares(p, c)
	case settings.MethodOutput, settings.MethodObjective:
		return minimise(ctx, p, c)
	}
	m0, err := start.Point(p.Init, p.Model(), noise.Public(p.InitSeed).Stream(noise.Initialisation))
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	loop, err := NewLoop(p, m0)
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	return loop.run(ctx, c, obs)
}

// Resume continues a checkpoint of a fit of m. The curator must have the checkpoint's
// ledger as its spending.
func Resume(ctx context.Context, cp Checkpoint, m *models.Model, c *privacy.Curator, obs Observer) (Result, error) {
	if err := cp.bind(m); err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	switch {
	case settings.OneRelease(cp.Plan.Method):
		if len(cp.Sample) != m.P {
			return Result{Spent: c.Ledger()}, errors.New("checkpoint: its draw does not fit its plan")
		}
		return ofOneRelease(cp.Plan, cp.Sample, c.Ledger(), nil)
	case cp.Plan.Method == settings.MethodNUTS:
		if n := len(cp.Sample); n == 0 || n%(m.P*plan.Chains) != 0 {
			return Result{Spent: c.Ledger()}, errors.New("checkpoint: its sample does not fit its plan")
		}
		return ofSample(cp.Plan, cp.Sample, c.Ledger()), nil
	}
	loop, err := Restore(cp)
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	return loop.run(ctx, c, obs)
}

// Finish ends the stopped fit of a checkpoint of m after its last step. It needs no
// records: it is post-processing of the releases in spent.
func Finish(ctx context.Context, cp Checkpoint, m *models.Model, spent privacy.Ledger) (Result, error) {
	if err := cp.bind(m); err != nil {
		return Result{Spent: spent}, err
	}
	loop, err := Restore(cp)
	if err != nil {
		return Result{Spent: spent}, err
	}
	if err := loop.plan.Finish(loop.state.Step); err != nil {
		return Result{Spent: spent}, err
	}
	return loop.result(ctx, spent, nil)
}

// run takes the remaining steps with the curator as oracle.
func (l *Loop) run(ctx context.Context, c *privacy.Curator, obs Observer) (Result, error) {
	if l.restored && l.plan.Private && l.Done() { // the steps end with the entry of the ledger that Resume reads
		err := l.askAfter(c)
		return l.result(ctx, c.Ledger(), err)
	}
	session, err := l.open(c)
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	eta, spent := noise.Public(l.plan.InitSeed).Stream(noise.Reparameterisation), session.EpsilonSpent
	saver, _ := obs.(Checkpointer)
	checkpoint := func() (Checkpoint, error) { return l.checkpoint(session.Ledger()) }
	l.shareThreads(session.Loops())
	after := func(step int) {
		if obs != nil {
			obs.Step(step, l.plan.Steps, spent)
		}
		if saver != nil {
			saver.Keep(checkpoint, false)
		}
	}
	defer func() {
		if failure := recover(); failure != nil { // a mistake after the steps must not cost them
			if saver != nil {
				saver.Keep(checkpoint, true)
			}
			panic(failure)
		}
	}()
	if l.plan.ByMoments() {
		err = l.regress(ctx, curatorOracle{session}, after)
	} else {
		err = l.iterate(ctx, curatorOracle{session}, l.plan.Model().NewPriorDensity(), eta, after)
	}
	err = errors.Join(err, session.Close())
	if err == nil {
		err = l.askAfter(c)
	}
	return l.result(ctx, c.Ledger(), err)
}

// result is the end of the steps, which failed with err, if it is not nil.
func (l *Loop) result(ctx context.Context, spent privacy.Ledger, err error) (Result, error) {
	r := Result{Spent: spent, loop: l}
	if err == nil {
		r.Posterior, err = l.Posterior(ctx)
	}
	return r, err
}

// open begins or resumes the session of the plan. It also resumes a fit that was stopped
// before its first step: that fit is the one mechanism of its ledger.
func (l *Loop) open(c *privacy.Curator) (*privacy.Session, error) {
	m, err := l.plan.Mechanism()
	switch {
	case err != nil:
		return nil, err
	case !l.plan.Private:
		return c.BeginNonPrivate(m)
	case l.restored:
		return c.Resume(m, l.state.Step)
	}
	if after := l.plan.After(); after != nil {
		if err := c.Authorise(append(after, m.Event(m.Steps))...); err != nil {
			return nil, err
		}
	}
	return c.Begin(m)
}

// checkpoint is the loop's state with the ledger.
func (l *Loop) checkpoint(spent privacy.Ledger) (Checkpoint, error) {
	raw, err := json.Marshal(spent)
	if err != nil {
		return Checkpoint{}, err
	}
	return l.Checkpoint(raw), nil
}

// Posterior is the posterior of the steps so far. The error is ErrStopped.
func (l *Loop) Posterior(ctx context.Context) (post *posterior.Posterior, err error) {
	if l.plan.ByMoments() {
		post, err = l.regressed(ctx), ctx.Err()
	} else {
		post, err = posterior.New(ctx, l.plan, l.releases())
	}
	if err != nil {
		return nil, ErrStopped
	}
	return post, nil
}

// releases are the released numbers so far: the average of the iterates, or the current
// iterate if averaging has not begun.
func (l *Loop) releases() posterior.Releases {
	s := &l.state
	r := posterior.Releases{
		Steps: s.Step, Guide: l.guide, Lambda: s.Lambda, Averaged: s.Average.Count > 0,
		Gradients: s.Gradients.GradientSums, Trace: s.Trace.Trace,
	}
	if r.Averaged {
		r.Lambda = s.Average.Mean
	}
	if l.plan.FollowsNoise() {
		r.NoiseVariance = slices.Clone(s.Noise.Variance)
		if r.Averaged {
			s.Noise.ofMean(r.NoiseVariance)
		}
		for _, j := range l.untouched {
			r.NoiseVariance[j] = 0
		}
	}
	return r
}
