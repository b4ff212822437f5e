package plan

import "d3p/internal/privacy/sampler"

// farSteps is 1/f, where f is the fraction of first steps that may be far from the mode.
const farSteps = 5

// StepWeight is the weight w of step t (from 0) in sums of released gradients.
func StepWeight(t int) float64 { return float64(t + 1) }

// SettledWeight is the weight u of step t (from 0) of a fit with the given number of
// steps.
func SettledWeight(t, steps int) float64 {
	if farSteps*t < steps {
		return 0
	}
	return StepWeight(t)
}

// BatchVariance is k: with independent subsets of the records in each step the mean
// released gradient has k times the variance J that it has over data sets. A record is in a
// batch with probability q, so a step's gradient has the variance J(1 − q)/q, and
//
//	k = Σu²(1 − q)/q / (Σu)²,  for one q about 1.4(1 − q)/(qT).
//
// Epochs take every record equally often.
func (p *Plan) BatchVariance(steps int) float64 {
	if p.Sampling != sampler.Poisson && p.Sampling != sampler.FixedSize {
		return 0
	}
	sum, square := 0.0, 0.0
	for t := range steps {
		u, q := SettledWeight(t, p.Steps), p.StepRate(t)
		sum, square = sum+u, square+u*u*(1-q)/q
	}
	if sum == 0 {
		return 0
	}
	return square / (sum * sum)
}

// StepRate is q of a step, counted from 0.
func (p *Plan) StepRate(step int) float64 { return p.SamplingRate * p.BatchSchedule.Factor(step) }
