package fit

import (
	"context"
	"encoding/json"
	"errors"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// NewPlan decides everything about a private or non-private fit of m before any
// record is read. N is the model file's public number of records, unless
// cfg.Records says otherwise.
func NewPlan(m *models.Model, cfg Config) (*Plan, error) {
	if cfg.Records == 0 {
		cfg.Records = m.Spec.Data.Rows.N()
	}
	cfg.Init = or(cfg.Init, defaultInit(m))
	if ofNetwork(m) {
		cfg = withNetwork(cfg, m)
	}
	blocks := blocksOf(m)
	if cfg.Rank == 0 {
		cfg.Rank = rankBeside(cfg, m.P, blocks)
	}
	p, err := newPlan(m.P, cfg)
	if err != nil {
		return nil, err
	}
	if err := p.setBlocks(blocks, cfg); err != nil {
		return nil, err
	}
	if err := checkWeights(p, m); err != nil {
		return nil, err
	}
	p.model = m
	for i := range m.Params {
		p.Sizes = append(p.Sizes, m.Params[i].Size)
	}
	if err := p.setCustom(cfg); err != nil {
		return nil, err
	}
	return p, nil
}

// Run fits the plan's model to the curator's records. It returns the posterior
// and what was spent; when ctx was cancelled (ErrStopped) or a later step
// failed, both are those of the steps done. Over the curator's budget nothing
// is spent and the posterior is nil.
func Run(ctx context.Context, p *Plan, c *privacy.Curator, obs Observer) (*Posterior, privacy.Ledger, error) {
	prior := newTapePrior(p.model.Prior)
	m0 := make([]float64, p.Latent)
	begin, err := lookupStart(p.Init)
	if err != nil {
		return nil, c.Ledger(), err
	}
	public := noise.Public(p.InitSeed).Stream(noise.Initialisation)
	begin.locate(m0, startOf(p.model, prior.logDensity), public)
	startWeights(m0, p.model, public)
	for _, s := range p.model.Starts {
		copy(m0[s.Offset:], s.Values)
	}
	loop, err := NewLoop(p, m0)
	if err != nil {
		return nil, c.Ledger(), err
	}
	return loop.fit(ctx, c, prior, obs)
}

// Resume continues a checkpoint of a fit of m. The curator must have been made
// with the checkpoint's ledger as what was spent.
func Resume(ctx context.Context, cp Checkpoint, m *models.Model, c *privacy.Curator, obs Observer) (*Posterior, privacy.Ledger, error) {
	if cp.Plan.Latent != m.P {
		return nil, c.Ledger(), errors.New("checkpoint: it is of another model (give the model file of the stopped fit)")
	}
	cp.Plan.model = m
	loop, err := Restore(cp)
	if err != nil {
		return nil, c.Ledger(), err
	}
	return loop.fit(ctx, c, newTapePrior(m.Prior), obs)
}

// fit drives l to its end with the curator as oracle.
func (l *Loop) fit(ctx context.Context, c *privacy.Curator, prior *tapePrior, obs Observer) (*Posterior, privacy.Ledger, error) {
	session, err := l.open(c)
	if err != nil {
		return nil, c.Ledger(), err
	}
	if l.plan.NoiseAware == NoiseAwareCurvature {
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
	prior := l.plan.model.NewPriorSampler()
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

// automaticGamma is γ of automatic clipping. Bu et al. 2022, arXiv:2206.07136.
const automaticGamma = 0.01

// Mechanism is what the plan will ask of the curator.
func (p *Plan) Mechanism() (privacy.Mechanism, error) {
	m := privacy.Mechanism{
		Purpose: "fit", Tape: p.model.Likelihood, Sampler: p.Sampler(), Steps: p.Steps * p.Draws, BatchBound: p.batchBound(),
		GradientNoise: p.GradientNoise, CountNoise: p.CountNoise, CountTarget: p.ClipQuantile,
	}
	switch p.Clipping {
	case ClippingOff:
		m.Clip.Kind, m.Purpose = privacy.Unclipped, "fit-nonprivate"
	case ClippingAutomatic:
		m.Clip.Kind, m.Clip.Gamma = privacy.Automatic, automaticGamma
	default:
		m.Clip.Kind = privacy.Flat // adaptive: flat at a C that changes from step to step
	}
	if p.Gradient != GradientVanilla {
		return m, nil
	}
	var err error
	m.Tape, err = p.model.VanillaTape(models.VanillaOptions{
		SharedTheta: p.Theta == ThetaShared, PriorInside: p.PriorGradient == PriorInside, PublicN: float64(p.Records),
	})
	return m, err
}

// batchBound is a public number of records that no batch exceeds: with a table
// of at most twice the declared N records, a Poisson batch of mean 2qN exceeds
// 4qN + 1000 with probability below 1e-200.
func (p *Plan) batchBound() int {
	return min(2*p.Records, int(4*p.SamplingRate*float64(p.Records))+1000)
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

// tapePrior evaluates the prior's tape: no record is involved.
type tapePrior struct {
	tape    *graph.Tape
	machine *graph.Machine
}

func newTapePrior(t *graph.Tape) *tapePrior { return &tapePrior{t, graph.NewMachine(t, 1)} }

// Gradient implements Prior.
func (p *tapePrior) Gradient(dst, theta []float64) {
	p.machine.Globals(theta, nil)
	p.machine.GlobalGradient(dst)
}

// logDensity is log p(θ) with the Jacobians.
func (p *tapePrior) logDensity(theta []float64) float64 {
	p.machine.Globals(theta, nil)
	return p.machine.Loss()[0]
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
