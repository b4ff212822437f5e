package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/start"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
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

// New plans a fit of m. It reads no record: N is the model file's public number of records,
// unless cfg.Records gives one. An error names the flag, the mistake and the next command.
func New(m *models.Model, cfg Config) (*Plan, error) {
	p, err := newPlan(m, cfg)
	if err == nil {
		p.config = &cfg
	}
	return p, err
}

// newPlan is New without the settings to follow the plan by.
func newPlan(m *models.Model, cfg Config) (*Plan, error) {
	if m.ByMarginals() {
		return newMarginals(m, cfg)
	}
	if cfg.Guide == guide.AmortisedName {
		if len(m.Core.Latent) == 0 {
			return nil, errors.New("--guide: amortised is for models with local latents, and this one has none (type --guide mean_field)")
		}
		cfg.Guide = guide.DeltaName // of the other parameters
	}
	if m.P == 0 {
		return nil, errors.New("the model has no parameters to fit (write `1 +` in its formula for an intercept)")
	}
	cfg.Records = cmp.Or(cfg.Records, m.Spec.Data.Rows.N())
	switch {
	case settings.OneRelease(cfg.Method):
		return newOneRelease(m, cfg)
	case cfg.Method == settings.MethodNUTS && !cfg.NonPrivate:
		return nil, errors.New("--method: nuts protects nothing (type d3p fit-nonprivate, or --method one_posterior_sample)")
	case cfg.NonPrivate:
		if err := listsLevels(m, "a fit without privacy", "take them from release/spec.lock.yaml of a private fit"); err != nil {
			return nil, err
		}
		cfg.Method = cmp.Or(cfg.Method, defaultMethod(m, cfg))
	}
	cfg.Init = cmp.Or(cfg.Init, start.Default(m))
	if hasNetwork(m) {
		cfg = withNetwork(cfg, m)
	}
	blocks := blocksOf(m)
	if cfg.Rank == 0 {
		cfg.Rank = rankBeside(cfg, m.P, blocks)
	}
	p, err := decide(m, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.NonPrivate && m.Spec.Model != nil {
		p.Spread = m.Spec.Model.SpreadPriors(&m.Spec.Data)
	}
	if p.Method == settings.MethodNUTS {
		return p, p.setSampler()
	}
	if err := p.setBlocks(blocks, cfg); err != nil {
		return nil, err
	}
	if err := checkWeights(p, m); err != nil {
		return nil, err
	}
	for i := range m.Params {
		p.Sizes = append(p.Sizes, m.Params[i].Size)
	}
	if err := p.setCustom(cfg); err != nil {
		return nil, err
	}
	return p, nil
}

// Check reports what New refuses of cfg, but for its price: it asks no accountant.
func Check(m *models.Model, cfg Config) error {
	if m.ByMarginals() {
		return nil
	}
	cfg.unpriced = true
	_, err := New(m, cfg)
	return err
}

// decide plans a fit by steps of m. New has set the settings that depend on the kind of model.
func decide(m *models.Model, cfg Config) (*Plan, error) {
	cfg, err := cfg.read()
	if err != nil {
		return nil, err
	}
	if cfg.Compat == settings.CompatD3P {
		cfg = withD3P(cfg)
	}
	if regresses(m, cfg) {
		cfg = withRegression(cfg)
	}
	p := &Plan{
		model:   m,
		Private: !cfg.NonPrivate, Records: cfg.Records, Latent: m.P,
		Gradient: cmp.Or(cfg.Gradient, settings.GradientAligned),
		Guide:    cmp.Or(cfg.Guide, guide.MeanFieldName), Rank: cfg.Rank,
		Init: cmp.Or(cfg.Init, settings.InitZero), InitScale: cmp.Or(cfg.InitScale, defaultInitScale), InitSeed: cfg.InitSeed,
		Schedule: cmp.Or(cfg.Schedule, "constant"), Momentum: cfg.Momentum, WeightDecay: cfg.WeightDecay,
		Averaging: defaultAveraging, Draws: 1,
	}
	if cfg.Averaging != nil {
		p.Averaging = *cfg.Averaging
	}
	if p.Guide == guide.LowRankName && p.Rank == 0 {
		p.Rank = min(defaultRank, m.P)
	}
	p.Release = m.P
	if p.Gradient == settings.GradientVanilla {
		p.Release = 2 * m.P
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

// planPrivate decides budget, sampling, noise and clipping.
func (p *Plan) planPrivate(cfg Config) error {
	m := p.model
	relation, err := event.ParseRelation(cmp.Or(cfg.Neighbours, string(event.AddRemove)))
	if err != nil {
		return err
	}
	p.Neighbours = relation
	p.Delta = cmp.Or(cfg.Delta, DefaultDelta(cfg.Records))
	if cfg.Epsilon > 0 {
		p.setBudget(cfg.Epsilon)
	}
	if err := p.chooseSampling(cfg); err != nil {
		return err
	}
	if err := p.chooseSchedule(cfg); err != nil {
		return err
	}
	if err := p.chooseClipGroups(cfg); err != nil {
		return err
	}
	if f := cfg.follows; f != nil {
		p.follow(f)
	} else if err := p.choosePurchases(cfg); err != nil {
		return err
	}
	if p.Purchase != nil && m.Spec.Model != nil {
		p.Spread = m.Spec.Model.SpreadPriors(&m.Spec.Data)
	}
	if err := p.chooseSideQueries(cfg); err != nil {
		return err
	}
	if cfg.follows == nil {
		p.chooseSurprisals(cfg)
		p.chooseDesignEffects(cfg)
		if err := p.chooseNoise(cfg); err != nil {
			return err
		}
	}
	if cfg.NoiseAware == settings.NoiseAwareMoments && cfg.Clipping == "" && cfg.ClipNorm == 0 && cfg.ClipQuantile == 0 && p.ClipGroups == nil {
		p.Clipping = ClippingByMoments
	} else {
		p.chooseClipping(cfg)
	}
	if err := p.checkAdaptive(); err != nil {
		return err
	}
	p.BoundGradients()
	p.SplitNoise()
	return nil
}

// chooseOptimizer sets the optimizer and its learning rate.
func (p *Plan) chooseOptimizer(cfg Config) error {
	family, err := optimizer.Lookup(cmp.Or(cfg.Optimizer, optimizer.AdamName))
	if err != nil {
		return err
	}
	if family.Name == optimizer.AdamCorrectedName && (p.Guide != guide.DeltaName || p.Gradient == settings.GradientVanilla) {
		return fmt.Errorf("--optimizer: adam_corrected knows the noise of point estimates alone, not of guide %s (type --guide delta, the default of networks, or --optimizer adam)", p.Guide)
	}
	p.Optimizer, p.LearningRate, p.LearningRateStated = family.Name, cmp.Or(cfg.LearningRate, family.Rate), cfg.LearningRate > 0
	return nil
}

// DefaultDelta returns the δ of a fit to N records, min(1e-5, N^-1.1): well below 1/N, at which a mechanism that
// publishes one record at random would pass.
func DefaultDelta(records int) float64 {
	return math.Min(1e-5, math.Pow(float64(records), -1.1))
}
