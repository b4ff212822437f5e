package fit

import "math"

// Defaults of fit-nonprivate. Without privacy noise the error left is that of
// the family, of the reparameterisation draws and of the optimizer. So: a
// full-rank guide while it is cheap (mean field alone moves a mean of the
// collinear abalone posterior by 0.13 posterior sd), draws in antithetic pairs
// (η, −η), whose gradients average to the exact one for a normal posterior, four
// such pairs, because the noise of the draws makes the fitted scales too small
// (with one pair by 21 % for abalone, with four by 8 %), and a cosine schedule
// that ends at step size zero. The means are then within 0.05 posterior sd of the
// reference for the regressions of posteriordb; the sds are within 10 % but for
// the residual scale of the smallest (46 records), where no normal is closer.
const (
	nonPrivateSteps     = 6000
	nonPrivateRate      = 0.05 // of adam
	nonPrivateDraws     = 8
	nonPrivateAveraging = 0.25
	nonPrivateFullRank  = 100 // parameters
)

// planNonPrivate decides the same algorithm without clipping and noise.
func (p *Plan) planNonPrivate(cfg Config) error {
	cfg.Steps = or(cfg.Steps, nonPrivateSteps)
	if cfg.Epochs > 0 {
		cfg.Steps = 0
	}
	if err := p.chooseSampling(cfg); err != nil {
		return err
	}
	p.Clipping, p.NoiseAware = ClippingOff, NoiseAwareNone
	p.Schedule = or(cfg.Schedule, "cosine")
	if cfg.Averaging == nil {
		p.Averaging = nonPrivateAveraging
	}
	if cfg.Guide == "" && p.Latent <= nonPrivateFullRank {
		p.Guide = "full-rank"
	}
	if p.Optimizer == "adam" {
		p.LearningRate = or(cfg.LearningRate, nonPrivateRate)
	}
	draws := nonPrivateDraws
	if p.Guide == "delta" {
		draws = 1 // of a point
	}
	p.Draws = or(cfg.Draws, draws)
	p.ClipNorm = math.MaxFloat64
	p.Warnings = []Warning{{"not-private", "nothing protects the records of this fit: keep its results where the records are"}}
	return nil
}
