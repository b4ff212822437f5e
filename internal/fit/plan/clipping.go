package plan

import (
	"cmp"
	"fmt"
	"math"

	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

const (
	countNoiseRatio = 4.0   // σ_b/(sσ): with it the gradient's noise grows by 3.3 %
	minAdaptive     = 200.0 // below this μN the count is too noisy to follow
	adaptiveStart   = 0.1   // C₀: a quantile near 1 is reached faster from below
	flatNorm        = 1.0   // C
)

// Bounds of an adaptive clip norm: a guard against overflow, far outside any
// useful value.
const (
	MinClipNorm = 1e-6
	MaxClipNorm = 1e6
)

// chooseClipping sets the kind of clipping, C (C₀ when adaptive) and the target quantile,
// by default
//
//	γ = 1 − clamp(10√P/(μN), 0.01, 0.4):
//
// the noise shrinks with N and clipping bias does not, so C grows with μN. Clipping is flat
// if the user gives a clip norm, its schedule, groups or a schedule of the batches, and
// under zero-out neighbours, which have no accounting for the count.
func (p *Plan) chooseClipping(cfg Config) {
	signal := p.Signal()
	kind := settings.ClippingAdaptive
	if signal < minAdaptive || p.Neighbours == event.ZeroOut || (cfg.ClipNorm > 0 || cfg.ClipNormSchedule != "" || p.BatchSchedule != nil || p.ClipGroups != nil) && cfg.ClipQuantile == 0 {
		kind = settings.ClippingFlat
	}
	if cfg.ClipQuantile > 0 {
		kind = settings.ClippingAdaptive
	}
	p.Clipping = cmp.Or(cfg.Clipping, kind)
	p.ClipNorm = cmp.Or(cfg.ClipNorm, flatNorm)
	if p.Clipping == settings.ClippingAdaptive {
		p.ClipNorm = cmp.Or(cfg.ClipNorm, adaptiveStart)
		p.ClipQuantile = cmp.Or(cfg.ClipQuantile, p.defaultQuantile())
	}
}

// checkAdaptive refuses adaptive clipping beside settings that have no count to follow.
func (p *Plan) checkAdaptive() error {
	if p.Clipping != settings.ClippingAdaptive {
		return nil
	}
	for _, x := range []struct {
		given     bool
		name, why string
	}{
		{p.ClipGroups != nil, "clip-groups", "of groups no count is released"},
		{p.BatchSchedule != nil, "batch-schedule", "adaptive clipping counts on batches of one size"},
		{p.ClipNormSchedule != nil, "clip-norm-schedule", "adaptive clipping follows released counts"},
	} {
		if x.given {
			return fmt.Errorf("--clip-quantile: not beside --%s: %s (leave one of the two out)", x.name, x.why)
		}
	}
	return nil
}

// StepClipNorm is C of a step, counted from 0. It holds for clipping that is not adaptive.
func (p *Plan) StepClipNorm(step int) float64 {
	return p.Bounded(math.Max(p.ClipNorm*p.ClipNormSchedule.Factor(step), MinClipNorm))
}

// Bounded is the clip norm c, or ClipBound if that is less: a larger norm adds noise, and clips
// no record less.
func (p *Plan) Bounded(c float64) float64 { return math.Min(c, cmp.Or(p.ClipBound, math.Inf(1))) }

// MostClipNorm bounds an adaptive C.
func (p *Plan) MostClipNorm() float64 { return p.Bounded(MaxClipNorm) }

// Clips reports whether a record can be clipped at the first step.
func (p *Plan) Clips() bool { return p.ClipBound == 0 || p.StepClipNorm(0) < p.ClipBound }

// BoundGradients sets ClipBound.
func (p *Plan) BoundGradients() {
	p.ClipBound = 0
	if p.Gradient != settings.GradientAligned || p.ClipGroups != nil || p.Clipping != settings.ClippingFlat && p.Clipping != settings.ClippingAdaptive {
		return
	}
	if bound := table1.GradientBound(p.model); bound < MaxClipNorm {
		p.ClipBound = math.Max(bound, MinClipNorm)
	}
}

// defaultQuantile is γ.
func (p *Plan) defaultQuantile() float64 {
	clipped := 10 * math.Sqrt(float64(p.Latent)) / p.Signal()
	return 1 - math.Min(math.Max(clipped, 0.01), 0.4)
}

// Signal is μN. The larger it is, the more a step's release tells about the records
// relative to its noise.
func (p *Plan) Signal() float64 { return p.Mu * float64(p.Records) }

// SplitNoise divides one release of noise multiplier σ between the gradient sum
// (sensitivity C) and, if clipping is adaptive, the count Σ (1[|g| ≤ C] − γ) (sensitivity s
// = max(γ, 1−γ)). It sets the rate η_C at which the clip norm follows the count. Scaled by
// their sensitivities the two are one Gaussian release:
//
//	σ⁻² = z⁻² + (σ_b/s)⁻², σ_b = 4sσ, η_C = 0.2 min(1, qN/(5σ_b)).
func (p *Plan) SplitNoise() {
	p.GradientNoise, p.CountNoise, p.ClipRate = p.NoiseMultiplier, 0, 0
	if p.Clipping != settings.ClippingAdaptive {
		return
	}
	p.CountNoise = countNoiseRatio * privacy.CountSensitivity(p.ClipQuantile) * p.NoiseMultiplier
	p.GradientNoise = p.NoiseMultiplier / math.Sqrt(1-1/(countNoiseRatio*countNoiseRatio))
	p.ClipRate = 0.2 * math.Min(1, p.SamplingRate*float64(p.Records)/(5*p.CountNoise))
}
