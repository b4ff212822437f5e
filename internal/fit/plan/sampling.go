package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// chooseSampling sets the scheme, q, the batch size and T. By default
//
//	T = 1000, q = min(1, max(5000/N, 4μ/√T)):
//
// the noise of the whole run is less than 3 % larger than with full batches. If the
// posterior counts the records that batches leave out, TqN is at most mostDraws, which
// bounds the time of the steps.
func (p *Plan) chooseSampling(cfg Config) error {
	n := float64(p.Records)
	p.Steps = cmp.Or(cfg.Steps, defaultSteps)
	switch {
	case cfg.BatchSize > 0:
		p.SamplingRate = float64(cfg.BatchSize) / n
	case cfg.SamplingRate > 0:
		p.SamplingRate = cfg.SamplingRate
	case cfg.Sampling == sampler.Full:
		p.SamplingRate = 1
	default:
		p.SamplingRate = minNoise * p.Mu / math.Sqrt(float64(p.Steps))
		if p.countsBatches(cfg) {
			p.SamplingRate = math.Min(p.SamplingRate, mostDraws/(n*float64(p.Steps)))
		}
		p.SamplingRate = math.Min(1, math.Max(defaultBatch/n, p.SamplingRate))
	}
	p.Sampling = cmp.Or(cfg.Sampling, sampler.Poisson)
	switch {
	case p.Sampling == sampler.Poisson && p.SamplingRate == 1:
		p.Sampling = sampler.Full
	case p.Sampling != sampler.Poisson && p.Sampling != sampler.Full:
		p.BatchSize = max(1, int(math.Round(p.SamplingRate*n)))
	}
	if cfg.Batches == sampler.Feistel && !sampler.HasBatches(p.Sampling) {
		return fmt.Errorf("--batches: sampling %s draws no subsets (leave it out, or type --sampling poisson and a --sampling-rate below 1)", p.Sampling)
	}
	p.Batches = p.chooseBatches(cfg)
	claim, err := sampler.ClaimFor(p.Sampler())
	if err != nil {
		return fmt.Errorf("--sampling: %w", err)
	}
	p.SamplingRate = claim.Rate()
	if cfg.Epochs > 0 {
		p.Steps = max(1, int(math.Ceil(cfg.Epochs/p.SamplingRate)))
	}
	if p.Private && !slices.Contains(claim.Relations(), p.Neighbours) {
		return fmt.Errorf("--sampling: %s is not accounted for under %s neighbours (type --neighbours %s, or --sampling poisson)",
			p.Sampling, p.Neighbours, claim.Relations()[0])
	}
	return nil
}

// mostDraws is the largest number of records in the default batches of all steps together.
// The error of a coefficient due to batches then has a standard deviation of 1e-4, in units
// in which one record's score has variance 1: far above the privacy noise.
const mostDraws = 1e8

// countsBatches reports whether the posterior of a fit with these settings comes from sums
// of released gradients and so contains their variance by batches.
func (p *Plan) countsBatches(cfg Config) bool {
	return p.Guide == guide.MeanFieldName && p.Gradient == settings.GradientAligned &&
		(cfg.NoiseAware == "" || cfg.NoiseAware == settings.NoiseAwareCurvature || cfg.NoiseAware == settings.NoiseAwareSample)
}

// feistelFrom is the number of records from which a card draws its own batches.
const feistelFrom = 1 << 16

// chooseBatches is the way to draw subsets; empty if the scheme draws none.
func (p *Plan) chooseBatches(cfg Config) string {
	switch {
	case !sampler.HasBatches(p.Sampling):
		return ""
	case cfg.Batches == "" && cfg.Card && p.Records >= feistelFrom:
		return sampler.Feistel
	}
	return cmp.Or(cfg.Batches, sampler.Exact)
}

// Sampler returns the plan's sampler in the form of privacy/sampler.
func (p *Plan) Sampler() sampler.Config {
	cfg := sampler.Config{Scheme: p.Sampling, BatchSize: p.BatchSize, PublicN: p.Records, Batches: p.Batches}
	if p.BatchSize == 0 {
		cfg.Rate = p.SamplingRate
	}
	return cfg
}
