package fit

import (
	"errors"
	"math"
	"strings"

	"d3p/internal/privacy/event"
)

// Constants of the default algorithm. They were tuned once on public data sets
// (logistic regression, hierarchical logistic regression, mixtures) and depend
// on nothing but N, P, ε and δ.
const (
	defaultSteps     = 1000
	defaultBatch     = 5000 // records per step that cost nothing in accuracy
	defaultInitScale = 0.1
	defaultAveraging = 0.5
	minNoise         = 4.0 // of q ≥ 4μ/√T, which keeps σ ≥ 3.5
	defaultRank      = 5
)

// newPlan decides everything for a model with latent unconstrained parameters.
// It reads no record. Its errors name the flag, what is wrong and what to type.
func newPlan(latent int, cfg Config) (*Plan, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Compat == CompatD3P {
		cfg = withD3P(cfg)
	}
	p := &Plan{
		Private: !cfg.NonPrivate, Records: cfg.Records, Latent: latent,
		Gradient: or(cfg.Gradient, GradientAligned), Theta: or(cfg.Theta, ThetaShared),
		PriorGradient: or(cfg.PriorGradient, PriorOutside),
		Guide:         or(strings.ReplaceAll(cfg.Guide, "_", "-"), "mean-field"), Rank: cfg.Rank,
		Init: or(cfg.Init, initZero), InitScale: or(cfg.InitScale, defaultInitScale), InitSeed: cfg.InitSeed,
		Schedule: or(cfg.Schedule, "constant"), Momentum: cfg.Momentum, WeightDecay: cfg.WeightDecay,
		Averaging: defaultAveraging, Draws: 1,
	}
	if cfg.Averaging != nil {
		p.Averaging = *cfg.Averaging
	}
	if p.Guide == "low-rank" && p.Rank == 0 {
		p.Rank = min(defaultRank, latent)
	}
	p.Release = latent
	if p.Gradient == GradientVanilla {
		p.Release = 2 * latent
	}
	if err := p.chooseOptimizer(cfg); err != nil {
		return nil, err
	}
	if !p.Private {
		if err := p.planNonPrivate(cfg); err != nil {
			return nil, err
		}
		return p, nil
	}
	if err := p.planPrivate(cfg); err != nil {
		return nil, err
	}
	if err := p.chooseNoiseAware(cfg); err != nil {
		return nil, err
	}
	p.warn()
	return p, nil
}

// chooseNoiseAware decides how the posterior accounts for the privacy noise.
func (p *Plan) chooseNoiseAware(cfg Config) error {
	byDefault := NoiseAwareVariance
	switch {
	case p.Guide == "delta":
		if cfg.NoiseAware != "" && cfg.NoiseAware != NoiseAwareNone {
			return errors.New("--noise-aware: a delta guide states no uncertainty (type --noise-aware none)")
		}
		byDefault = NoiseAwareNone
	case p.Guide == "mean-field" && p.Gradient == GradientAligned:
		byDefault = NoiseAwareCurvature
	case cfg.NoiseAware == NoiseAwareCurvature:
		return errors.New("--noise-aware: curvature gives the scales of a mean-field guide (type --noise-aware variance, or --guide mean-field)")
	}
	p.NoiseAware = or(cfg.NoiseAware, byDefault)
	return nil
}

// planPrivate decides budget, sampling, noise and clipping.
func (p *Plan) planPrivate(cfg Config) error {
	relation, err := event.ParseRelation(or(cfg.Adjacency, string(event.AddRemove)))
	if err != nil {
		return err
	}
	p.Adjacency = relation
	p.Delta = or(cfg.Delta, defaultDelta(cfg.Records))
	if cfg.Epsilon > 0 {
		p.setBudget(cfg.Epsilon)
	}
	if err := p.chooseSampling(cfg); err != nil {
		return err
	}
	if err := p.chooseNoise(cfg); err != nil {
		return err
	}
	p.chooseClipping(cfg)
	splitNoise(p)
	return nil
}

// chooseOptimizer sets the optimizer and its learning rate.
func (p *Plan) chooseOptimizer(cfg Config) error {
	family, err := lookupOptimizer(or(cfg.Optimizer, "adam"))
	if err != nil {
		return err
	}
	p.Optimizer, p.LearningRate = family.name, or(cfg.LearningRate, family.rate)
	return nil
}

// defaultDelta is min(1e-5, N^-1.1): well below 1/N, at which a mechanism that
// publishes one record at random would pass.
func defaultDelta(records int) float64 {
	return math.Min(1e-5, math.Pow(float64(records), -1.1))
}
