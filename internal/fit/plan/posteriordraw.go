package plan

import (
	"errors"
	"fmt"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// ClippingScore is the clipping of a posterior draw: the score itself is bounded.
const ClippingScore = "bounded score"

// RiskApproximate is the name of the risk of a posterior draw.
const RiskApproximate = "approximate-sampler"

// newPosteriorDraw plans the release of one draw of the generalised posterior.
func newPosteriorDraw(m *models.Model, cfg Config) (*Plan, error) {
	if err := unused(cfg, "a draw of the posterior takes no gradient steps with noise", "method", "records", "init-seed", "epsilon", "delta", "neighbours"); err != nil {
		return nil, err
	}
	if !(cfg.Epsilon > 0) {
		return nil, errors.New("--method: one_posterior_sample needs --epsilon")
	}
	if err := buysNothing(m, "--method one_posterior_sample", "type --method vi"); err != nil {
		return nil, err
	}
	if _, err := m.ScoreRange(); err != nil {
		return nil, fmt.Errorf("--method: one_posterior_sample needs a score between bounds, and here %w", err)
	}
	if _, err := m.DensityTape(); err != nil {
		return nil, fmt.Errorf("--method: one_posterior_sample needs the score of a record, and here %w", err)
	}
	p := &Plan{
		Method: settings.MethodOneSample, Private: true, Records: or(cfg.Records, m.Spec.Data.Rows.N()), Latent: m.P, Release: m.P, Draws: 1,
		Gradient: settings.GradientAligned, Guide: guide.DeltaName, Init: "zero", InitSeed: cfg.InitSeed, Schedule: "constant",
		Optimizer: optimizer.AdamName, NoiseAware: settings.NoiseAwareNone, Clipping: ClippingScore, ClipNorm: 1,
		Sampling: sampler.Full, SamplingRate: 1, Steps: 1, model: m,
	}
	for i := range m.Params {
		p.Sizes = append(p.Sizes, m.Params[i].Size)
	}
	var err error
	if p.Neighbours, err = event.ParseRelation(or(cfg.Neighbours, string(event.AddRemove))); err != nil {
		return nil, err
	}
	p.Delta = or(cfg.Delta, defaultDelta(p.Records))
	p.setBudget(cfg.Epsilon)
	p.warn()
	p.NoiseToSignal = 0
	p.Warnings = append(keepWarnings(p.Warnings, "delta-above-1/n", "large-epsilon"), Warning{RiskApproximate,
		"the guarantee is that of an exact draw of the posterior, and the No-U-Turn sampler draws nearly from it: how nearly is not proven"})
	answer, err := p.price()
	if err != nil {
		return nil, fmt.Errorf("--epsilon: %w", err)
	}
	p.Certified = &answer
	return p, p.recordEvent()
}

// DrawsPosterior reports whether the plan releases one draw of the posterior.
func (p *Plan) DrawsPosterior() bool { return p.Method == settings.MethodOneSample }

// PosteriorDraw is the mechanism that such a plan asks of the curator.
func (p *Plan) PosteriorDraw() (privacy.PosteriorDraw, error) {
	bound, err := p.model.ScoreRange()
	return privacy.PosteriorDraw{Purpose: "fit", Model: p.model, Epsilon: p.Epsilon, Range: bound, Chains: Chains, Warmup: Warmup, Kept: Kept}, err
}

// unused refuses the given settings, except names, of an algorithm that takes only these.
func unused(cfg Config, why string, names ...string) error {
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	given := cfg.given()
	if cfg.Table1 == settings.Auto {
		delete(given, "table1")
	}
	for _, row := range settings.Table() {
		if _, ok := given[row.Name]; ok && !taken[row.Name] {
			return fmt.Errorf("--%s: %s (leave it out)", row.Name, why)
		}
	}
	return nil
}
