package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"d3p/internal/fit/optimizer"
	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// MethodMarginals is the method of a synthetic table from noisy tables of counts.
const MethodMarginals = "marginals"

// ClippingCounts is the clipping of counts: a unit has a weight of 1 in each table.
const ClippingCounts = "counts"

// newMarginals plans a synthetic table by marginals.
func newMarginals(m *models.Model, cfg Config) (*Plan, error) {
	if cfg.NonPrivate {
		return nil, fmt.Errorf("the engine marginals has no fit without privacy (write `engine: mixture`, or type a large --epsilon on public data)")
	}
	if err := buysNothing(m, "the engine marginals", "write `engine: mixture`"); err != nil {
		return nil, err
	}
	if err := unused(cfg, "the engine marginals takes no gradient steps", "records", "init-seed", "epsilon", "delta", "neighbours", "noise-multiplier", "accept-risk", "ledger"); err != nil {
		return nil, fmt.Errorf("%w, or write `engine: mixture`", err)
	}
	cfg.Records = cmp.Or(cfg.Records, m.Spec.Data.Rows.N())
	cfg, err := cfg.read()
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Method: MethodMarginals, Private: true, Records: cfg.Records, Draws: 1, Gradient: settings.GradientAligned,
		Guide: guide.DeltaName, Init: "zero", InitSeed: cfg.InitSeed, Schedule: "constant", Optimizer: optimizer.AdamName, NoiseAware: settings.NoiseAwareNone,
		Sizes: []int{}, model: m,
	}
	if p.Neighbours, err = event.ParseRelation(cmp.Or(cfg.Neighbours, string(event.AddRemove))); err != nil {
		return nil, err
	}
	p.Delta = cmp.Or(cfg.Delta, DefaultDelta(cfg.Records))
	if cfg.Epsilon > 0 {
		p.setBudget(cfg.Epsilon)
	}
	sampled := Config{Sampling: sampler.Full, Steps: marginals.Steps}
	if err := p.chooseSampling(sampled); err != nil {
		return nil, err
	}
	if err := p.chooseNoise(cfg); err != nil {
		return nil, err
	}
	p.Clipping, p.ClipNorm, p.GradientNoise = ClippingCounts, 1, p.NoiseMultiplier
	p.warn()
	p.NoiseToSignal = 0
	p.keepWarnings("delta-above-1/n", "large-epsilon")
	if noise := p.NoiseMultiplier * math.Sqrt(float64(len(m.Encoding.Columns()))/marginals.ColumnSteps); noise > countsDrown*float64(p.Records) {
		p.Warnings = append(p.Warnings, Warning{"noise-dominates", fmt.Sprintf(
			"noise will dominate: counts of single columns have noise of about %.0f, and there are %d records; a larger epsilon, more records or fewer columns would help", noise, p.Records)})
	}
	return p, nil
}

// countsDrown is the noise of a single column's counts, as a share of the records, from
// which the plan warns.
const countsDrown = 0.05

// keepWarnings keeps the warnings with these names.
func (p *Plan) keepWarnings(names ...string) {
	p.Warnings = slices.DeleteFunc(p.Warnings, func(w Warning) bool { return !slices.Contains(names, w.ID) })
}

// ByMarginals reports whether the plan is for a synthetic table by marginals.
func (p *Plan) ByMarginals() bool { return p.Method == MethodMarginals }
