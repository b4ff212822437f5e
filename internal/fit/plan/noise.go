package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
	"d3p/internal/table1"
)

// setBudget sets ε, and the μ whose Gaussian differential privacy is exactly (ε, δ). Under
// substitution a record's influence is twice as large, so the same guarantee leaves half of
// μ to the signal.
func (p *Plan) setBudget(epsilon float64) {
	p.Epsilon = epsilon
	p.Mu = table1.Mu(p.Delta, p.Neighbours, epsilon)
}

// MechanismEvent is the event of all purchases, all T steps and the side queries together, if a step is one
// Gaussian release of noise multiplier σ times its factor.
func (p *Plan) MechanismEvent(sigma float64) event.Event {
	switch {
	case p.ReadsColumns():
		return event.Gaussian{NoiseMultiplier: sigma}
	case p.DrawsPosterior():
		return event.EpsilonDelta{Epsilon: p.Epsilon}
	}
	step := func(factor float64) event.Event { return p.ClipGroups.Event(sigma * factor) }
	steps := schedule.Events(p.NoiseSchedule, p.BatchSchedule, p.Sampler(), step, p.Steps)
	return event.Together(slices.Concat(p.Before(), steps, p.After()))
}

// chooseNoise sets σ and its price: the given σ, or the smallest that the accountant
// certifies for (ε, δ).
func (p *Plan) chooseNoise(cfg Config) error {
	if cfg.unpriced {
		p.NoiseMultiplier = cmp.Or(cfg.NoiseMultiplier, 1)
		return nil
	}
	if cfg.NoiseMultiplier > 0 {
		p.NoiseMultiplier = cfg.NoiseMultiplier
		answer, err := p.price()
		if err != nil {
			return fmt.Errorf("--noise-multiplier: %w", err)
		}
		if cfg.Epsilon > 0 && answer.Upper > cfg.Epsilon {
			return fmt.Errorf("--noise-multiplier: %g costs epsilon %.4g, more than --epsilon %g (leave one of the two out)",
				cfg.NoiseMultiplier, answer.Upper, cfg.Epsilon)
		}
		p.Certified = &answer
		if cfg.Epsilon == 0 {
			p.setBudget(roundUp(answer.Upper))
		}
		return p.recordEvent()
	}
	return p.calibrate()
}

// calibrate sets the smallest σ that the accountant certifies for (ε, δ), and its price.
func (p *Plan) calibrate() error {
	target := accountant.Target{Epsilon: p.Epsilon, Delta: p.Delta}
	calibration, err := accountant.CalibrateNoise(target, p.Neighbours, p.MechanismEvent)
	if err != nil {
		return fmt.Errorf("--epsilon: %w", err)
	}
	return p.certify(calibration.NoiseMultiplier)
}

// certify sets σ to sigma or slightly more. The curator asks the accountant again before
// step 1 and must get an answer within the budget; the calibration asks for narrower
// brackets than that question.
func (p *Plan) certify(sigma float64) error {
	for _, margin := range []float64{0, 2e-5, 5e-5, 1e-4, 1e-3, 1e-2} {
		p.NoiseMultiplier = sigma * (1 + margin)
		answer, err := p.price()
		if err != nil {
			return fmt.Errorf("--epsilon: %w", err)
		}
		if answer.Upper <= p.Epsilon {
			p.Certified = &answer
			return p.recordEvent()
		}
	}
	return fmt.Errorf("--epsilon: %g cannot be certified for this sampling (type a slightly larger --epsilon)", p.Epsilon)
}

// chooseSchedule sets the schedules of the noise, the sampling rate and the clip norm.
func (p *Plan) chooseSchedule(cfg Config) error {
	var err error
	if p.ClipNormSchedule, err = schedule.Parse(cfg.ClipNormSchedule, p.Steps); err != nil {
		return fmt.Errorf("--clip-norm-schedule: %w", err)
	}
	if p.BatchSchedule, err = schedule.Parse(cfg.BatchSchedule, p.Steps); err != nil {
		return fmt.Errorf("--batch-schedule: %w", err)
	}
	_, most := p.BatchSchedule.Range()
	switch {
	case p.BatchSchedule == nil:
	case p.Sampling != sampler.Poisson:
		return fmt.Errorf("--batch-schedule: sampling %s has batches of one size (type --sampling poisson --sampling-rate %.3g, or less)", p.Sampling, math.Floor(1000/most)/1000)
	case p.SamplingRate*most > 1:
		return fmt.Errorf("--batch-schedule: sampling %s at rate %.4g has no batches %.4g times as large (type --sampling poisson --sampling-rate %.3g, or less)", p.Sampling, p.SamplingRate, most, math.Floor(1000/most)/1000)
	}
	if cfg.NoiseSchedule == "" {
		return nil
	}
	if !sampler.OneStep(p.Sampling) {
		return fmt.Errorf("--noise-schedule: sampling %s is accounted for by whole epochs (type --sampling %s)", p.Sampling, sampler.Poisson)
	}
	if p.NoiseSchedule, err = schedule.Parse(cfg.NoiseSchedule, p.Steps); err != nil {
		return fmt.Errorf("--noise-schedule: %w", err)
	}
	return nil
}

// recordEvent stores the event in dp_accounting's JSON form.
func (p *Plan) recordEvent() error {
	raw, err := event.MarshalDpEvent(p.MechanismEvent(p.NoiseMultiplier))
	p.Event = raw
	return err
}

// roundUp rounds a positive ε up to 6 significant digits, so that a budget of
// the result has room for the last bits of any later question.
func roundUp(epsilon float64) float64 {
	if !(epsilon > 1e-6) {
		return 1e-6
	}
	unit := math.Pow(10, math.Floor(math.Log10(epsilon))-5)
	return math.Ceil(epsilon/unit*(1+1e-12)) * unit
}
