package fit

import (
	"context"
	"encoding/json"
	"errors"

	"d3p/internal/fit/plan"
	"d3p/internal/fit/start"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// Run fits the plan's model to the curator's records. It returns the posterior
// and what was spent; when ctx was cancelled (ErrStopped) or a later step
// failed, both are those of the steps done. Over the curator's budget nothing
// is spent and the posterior is nil.
func Run(ctx context.Context, p *plan.Plan, c *privacy.Curator, obs Observer) (*Posterior, privacy.Ledger, error) {
	m0, err := start.Point(p.Init, p.Model(), noise.Public(p.InitSeed).Stream(noise.Initialisation))
	if err != nil {
		return nil, c.Ledger(), err
	}
	loop, err := NewLoop(p, m0)
	if err != nil {
		return nil, c.Ledger(), err
	}
	return loop.fit(ctx, c, obs)
}

// Resume continues a checkpoint of a fit of m. The curator must have been made
// with the checkpoint's ledger as what was spent.
func Resume(ctx context.Context, cp Checkpoint, m *models.Model, c *privacy.Curator, obs Observer) (*Posterior, privacy.Ledger, error) {
	if cp.Plan.Latent != m.P {
		return nil, c.Ledger(), errors.New("checkpoint: it is of another model (give the model file of the stopped fit)")
	}
	cp.Plan.Bind(m)
	loop, err := Restore(cp)
	if err != nil {
		return nil, c.Ledger(), err
	}
	return loop.fit(ctx, c, obs)
}

// fit drives l to its end with the curator as oracle.
func (l *Loop) fit(ctx context.Context, c *privacy.Curator, obs Observer) (*Posterior, privacy.Ledger, error) {
	prior := l.plan.Model().NewPriorDensity()
	session, err := l.open(c)
	if err != nil {
		return nil, c.Ledger(), err
	}
	if l.plan.NoiseAware == plan.NoiseAwareCurvature {
		l.state.Curvature.floor = l.priorPrecision()
	}
	eta, spent := noise.Public(l.plan.InitSeed).Stream(noise.Reparameterisation), session.EpsilonSpent
	keeper, _ := obs.(Keeper)
	checkpoint := func() (Checkpoint, error) { return l.saved(session.Ledger()) }
	l.sweepOn(session.Loops())
	err = l.run(ctx, curatorOracle{session}, prior, eta, func(step int) {
		if obs != nil {
			obs.Step(step, l.plan.Steps, spent)
		}
		if keeper != nil {
			keeper.Keep(checkpoint)
		}
	})
	err = errors.Join(err, session.Close())
	invented := l.invent()
	post := l.Posterior()
	if invented != nil {
		l.join(post, prior, *invented)
	}
	return post, c.Ledger(), err
}

// priorPrecision estimates 1/variance of every number under the prior, shape (P),
// from public draws that depend on the plan only.
func (l *Loop) priorPrecision() []float64 {
	rng := noise.NewRandom(noise.Public(l.plan.InitSeed).Child(1).Stream(noise.Initialisation))
	prior := l.plan.Model().NewPriorSampler()
	return priorPrecision(l.plan.Latent, func(theta []float64) { prior.Draw(theta, rng) })
}

// open begins, or resumes, the session that the plan describes. A fit that was stopped
// before its first step is resumed, too: it is the one mechanism of its ledger.
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
	return c.Begin(m)
}

// curatorOracle asks a session.
type curatorOracle struct{ session *privacy.Session }

// Step implements Oracle.
func (o curatorOracle) Step(dst, params, aux []float64, clipNorm float64) (float64, error) {
	release, err := o.session.Step(dst, privacy.StepRequest{Params: params, Aux: aux, ClipNorm: clipNorm})
	return release.Count, err
}

// Prepare implements aheadOracle.
func (o curatorOracle) Prepare(p privacy.Postprocessing) error { return o.session.Prepare(p) }

// Steps implements aheadOracle.
func (o curatorOracle) Steps(state, kept, inputs []float64, n int) (int, error) {
	return o.session.Steps(state, kept, inputs, n)
}

// Checkpoint returns what is needed to continue the fit that p came from, with
// the ledger of what was spent.
func (p *Posterior) Checkpoint(spent privacy.Ledger) (Checkpoint, error) { return p.loop.saved(spent) }

// saved is the loop's state with the ledger of what was spent.
func (l *Loop) saved(spent privacy.Ledger) (Checkpoint, error) {
	raw, err := json.Marshal(spent)
	if err != nil {
		return Checkpoint{}, err
	}
	return l.Checkpoint(raw), nil
}
