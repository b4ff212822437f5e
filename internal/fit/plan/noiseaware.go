package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"d3p/internal/models/formula"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// chooseNoiseAware decides how the posterior accounts for the privacy noise.
func (p *Plan) chooseNoiseAware(cfg Config) error {
	byDefault := settings.NoiseAwareVariance
	switch {
	case p.Guide == guide.DeltaName:
		if cfg.NoiseAware != "" && cfg.NoiseAware != settings.NoiseAwareNone {
			return errors.New("--noise-aware: a delta guide states no uncertainty (type --noise-aware none)")
		}
		byDefault = settings.NoiseAwareNone
	case p.ClipGroups != nil: // the others simulate the clipping of whole gradients
	case p.Guide == guide.MeanFieldName && p.Gradient == settings.GradientAligned:
		byDefault = settings.NoiseAwareCurvature
		if p.samples(p.Records) {
			byDefault = settings.NoiseAwareSample
		}
	case cfg.NoiseAware == settings.NoiseAwareCurvature, cfg.NoiseAware == settings.NoiseAwareSample:
		return fmt.Errorf("--noise-aware: %s is for a mean-field guide (type --noise-aware variance, or --guide mean_field)", cfg.NoiseAware)
	}
	p.NoiseAware, p.NoiseAwareStated = cmp.Or(cfg.NoiseAware, byDefault), cfg.NoiseAware != ""
	if p.NoiseAware == settings.NoiseAwareSample && !p.ScoresAreGradients() {
		return errors.New("--noise-aware: sample is for unweighted log likelihoods (type --noise-aware curvature)")
	}
	if p.ByMoments() && (p.Purchase.Second() == nil || p.Sampling != sampler.Full || p.Clipping != ClippingByMoments) {
		return errors.New("--noise-aware: moments is for a normal family with identity link and predictors alone, without --table1 SHARE, --sampling and --clipping (leave it out)")
	}
	return nil
}

// sampledFamilies have posteriors that are skewed, or that depend on relations between the
// predictors. Their intervals hold better as a sample.
var sampledFamilies = []string{"bernoulli", "poisson", "cumulative", "negative_binomial"}

// scarceFamilies have parameters, or counts, that few records determine: phi those with large
// counts, the lowest cutpoint those of the lowest level. Of 36 tables of four ordered levels (N = 1000,
// ε = 1; lowest level from 0.1 to 30 %), intervals of the lowest cutpoint were off by up to
// 22 standard deviations as a joint normal and by 2.0 as a sample. In 20 of 22 cells of Poisson
// regressions with noisy correlations (docs/results/cells.txt) a sample has the higher log
// score; a logistic regression has it in half of them, and outcomes of 2 % then hold less often.
var scarceFamilies = []string{"poisson", "negative_binomial", "cumulative"}

// skewedFamilies have a shape that the intercept depends on. Of 12 tables of a skew normal
// (N = 2000, ε = 1) intervals of sigma held the truth in 0 as a joint normal and in 12 as a
// sample; without a bought law (N = 300) in 4 and 12, those of alpha in 5 and 12.
var skewedFamilies = []string{"skew_normal", "gompertz"}

// samples reports whether the posterior of this number of records is a sample by default. A
// sample trusts the law that simulates its records, so in general it needs a law bought
// with little noise. This holds for sampled families, and for normal and categorical ones
// with groups, whose residual sd or intercepts contain the uncertainty of their effects.
// Scarce families need only bought correlations. If the location depends on a parameter of
// the spread, which a joint normal takes to be independent, the posterior is a sample under
// every law, bought or declared.
func (p *Plan) samples(records int) bool {
	if p.model.Spec.Model == nil || !p.ScoresAreGradients() {
		return false
	}
	m := p.model.Spec.Model
	family := formula.FamilyOf(m.Family.V).Name
	if m.Terms != nil && m.Terms.Truncated() || slices.Contains(skewedFamilies, family) {
		return true
	}
	if p.Purchase == nil {
		return false
	}
	if !p.Purchase.Precise(records) {
		return slices.Contains(scarceFamilies, family) && p.Purchase.Correlates()
	}
	return slices.Contains(sampledFamilies, family) || (family == "normal" || family == "categorical") && m.Terms != nil && len(m.Terms.Groups) > 0
}

// ScoresAreGradients reports whether the gradient of a simulated record is that of its log
// likelihood. A sample takes the slope of the mean gradient from products of scores, by the
// information identity, which weights and other scores violate.
func (p *Plan) ScoresAreGradients() bool {
	return p.model.Spec.Likelihood.IsLog() && !p.model.Spec.Data.Weights.IsSet()
}

// ModelsNoise reports whether the variance of the privacy noise is part of the
// posterior.
func (p *Plan) ModelsNoise() bool {
	return p.SumsGradients() || p.FollowsNoise() || p.ByMoments()
}

// SumsGradients reports whether the posterior is computed from sums of released gradients.
func (p *Plan) SumsGradients() bool {
	return p.NoiseAware == settings.NoiseAwareCurvature || p.NoiseAware == settings.NoiseAwareSample
}

// FollowsNoise reports whether the fit follows the noise through the optimizer, step by
// step. With curvature the posterior computes its variance at the end.
func (p *Plan) FollowsNoise() bool { return p.NoiseAware == settings.NoiseAwareVariance }
