package plan

import (
	"errors"
	"fmt"
)

// chooseNoiseAware decides how the posterior accounts for the privacy noise.
func (p *Plan) chooseNoiseAware(cfg Config) error {
	byDefault := NoiseAwareVariance
	switch {
	case p.Guide == "delta":
		if cfg.NoiseAware != "" && cfg.NoiseAware != NoiseAwareNone {
			return errors.New("--noise-aware: a delta guide states no uncertainty (type --noise-aware none)")
		}
		byDefault = NoiseAwareNone
	case p.Guide == "mean_field" && p.Gradient == GradientAligned:
		byDefault = NoiseAwareCurvature
	case cfg.NoiseAware == NoiseAwareCurvature, cfg.NoiseAware == NoiseAwareSample:
		return fmt.Errorf("--noise-aware: %s is for a mean-field guide (type --noise-aware variance, or --guide mean_field)", cfg.NoiseAware)
	}
	p.NoiseAware = or(cfg.NoiseAware, byDefault)
	return nil
}

// ModelsNoise reports whether the variance of the privacy noise is part of the
// posterior.
func (p *Plan) ModelsNoise() bool {
	return p.SumsGradients() || p.FollowsNoise()
}

// SumsGradients reports whether the posterior is made of sums of released gradients.
func (p *Plan) SumsGradients() bool {
	return p.NoiseAware == NoiseAwareCurvature || p.NoiseAware == NoiseAwareSample
}

// FollowsNoise reports whether the noise is followed through the optimizer, step
// by step; the curvature gives its variance at the end.
func (p *Plan) FollowsNoise() bool { return p.NoiseAware == NoiseAwareVariance }
