package fit

import (
	"fmt"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
)

// setBudget sets ε and the μ of Gaussian differential privacy that is exactly
// (ε, δ). Under substitution a record's influence is twice as large, so the
// same guarantee leaves half of the μ to the signal.
func (p *Plan) setBudget(epsilon float64) {
	p.Epsilon = epsilon
	p.Mu = accountant.GaussianMu(accountant.Target{Epsilon: epsilon, Delta: p.Delta})
	if p.Adjacency == event.Substitute {
		p.Mu /= 2
	}
}

// MechanismEvent is what all T steps together do, if each is one Gaussian
// release of noise multiplier σ.
func (p *Plan) MechanismEvent(sigma float64) event.Event {
	return sampler.EventFor(p.Sampler(), p.Steps, event.Gaussian{NoiseMultiplier: sigma})
}

// chooseNoise sets σ: the smallest that the accountant certifies for (ε, δ), or
// the one that was asked for, and what it costs.
func (p *Plan) chooseNoise(cfg Config) error {
	if cfg.NoiseMultiplier > 0 {
		p.NoiseMultiplier = cfg.NoiseMultiplier
		answer, err := accountant.Epsilon(p.MechanismEvent(p.NoiseMultiplier), p.Adjacency, p.Delta)
		if err != nil {
			return fmt.Errorf("--noise-multiplier: %w", err)
		}
		if cfg.Epsilon > 0 && answer.Upper > cfg.Epsilon {
			return fmt.Errorf("--noise-multiplier: %g costs epsilon %.4g, more than --epsilon %g (leave one of the two out)",
				cfg.NoiseMultiplier, answer.Upper, cfg.Epsilon)
		}
		p.Certified = &answer
		if cfg.Epsilon == 0 {
			p.setBudget(answer.Upper)
		}
		return p.recordEvent()
	}
	calibration, err := accountant.CalibrateNoise(accountant.Target{Epsilon: p.Epsilon, Delta: p.Delta}, p.Adjacency, p.MechanismEvent)
	if err != nil {
		return fmt.Errorf("--epsilon: %w", err)
	}
	p.NoiseMultiplier, p.Certified = calibration.NoiseMultiplier, &calibration.Certified
	return p.recordEvent()
}

// recordEvent keeps the event in dp_accounting's JSON form.
func (p *Plan) recordEvent() error {
	raw, err := event.MarshalDpEvent(p.MechanismEvent(p.NoiseMultiplier))
	p.Event = raw
	return err
}
