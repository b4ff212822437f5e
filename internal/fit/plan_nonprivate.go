package fit

import "math"

// Defaults of fit-nonprivate. Without privacy noise the error left is that of
// the reparameterisation draws and of the optimizer: draws in antithetic pairs
// (η, −η), whose gradients average to the exact one for a normal posterior, and
// a cosine schedule that ends at step size zero. On the collinear 46-row
// regression mesquite of posteriordb the means are then within 0.06 posterior
// standard deviations of the reference.
const (
	nonPrivateSteps     = 3000
	nonPrivateRate      = 0.1 // of adam
	nonPrivateDraws     = 2
	nonPrivateAveraging = 0.25
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
	if p.Optimizer == "adam" {
		p.LearningRate = or(cfg.LearningRate, nonPrivateRate)
	}
	p.Draws = or(cfg.Draws, nonPrivateDraws)
	p.ClipNorm = math.MaxFloat64
	p.Warnings = []Warning{{"not-private", "nothing protects the records of this fit: keep its results where the records are"}}
	return nil
}
