package plan

import (
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

// automaticGamma is γ of automatic clipping. Bu et al. 2022, arXiv:2206.07136.
const automaticGamma = 0.01

// Mechanism is the mechanism that the plan asks of the curator.
func (p *Plan) Mechanism() (privacy.Mechanism, error) {
	m := privacy.Mechanism{
		Purpose: "fit", Tape: p.model.Likelihood, Sampler: p.Sampler(), Steps: p.Steps * p.Draws, BatchBound: p.batchBound(),
		GradientNoise: p.GradientNoise, CountNoise: p.CountNoise, CountTarget: p.ClipQuantile, Schedule: p.NoiseSchedule, Rates: p.BatchSchedule, Groups: p.ClipGroups,
	}
	switch p.Clipping {
	case ClippingOff:
		m.Clip.Kind, m.Purpose = privacy.Unclipped, "fit-nonprivate"
	case settings.ClippingAutomatic:
		m.Clip.Kind, m.Clip.Gamma = privacy.Automatic, automaticGamma
	default:
		m.Clip.Kind = privacy.Flat // adaptive: flat at a C that changes from step to step
	}
	if p.Gradient != settings.GradientVanilla {
		return m, nil
	}
	var err error
	m.Tape, err = p.model.VanillaTape(float64(p.Records))
	return m, err
}

// batchBound is a public bound on the number of records in a batch: with a table of at most
// twice the declared N records, a Poisson batch of mean 2qN exceeds 4qN + 1000 with
// probability below 1e-200.
func (p *Plan) batchBound() int {
	_, most := p.BatchSchedule.Range()
	return min(2*p.Records, int(4*p.SamplingRate*most*float64(p.Records))+1000)
}
