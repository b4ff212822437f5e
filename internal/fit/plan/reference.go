package plan

import (
	"fmt"

	"d3p/internal/models/guide"
)

// Chains of the No-U-Turn sampler, and transitions of each.
const (
	Chains = 4
	Warmup = 1000
	Kept   = 1000
)

// setSampler decides a fit by the No-U-Turn sampler: its steps are the transitions
// of all chains, and its posterior is a sample.
func (p *Plan) setSampler() error {
	if _, err := p.model.DensityTape(); err != nil {
		return fmt.Errorf("--method: nuts needs the log likelihood of the records, and here %w (type --method vi)", err)
	}
	p.Guide, p.Rank, p.Blocks = guide.SampleName, 0, nil
	p.Optimizer, p.Schedule, p.LearningRate, p.Momentum, p.WeightDecay, p.Averaging = "", "", 0, 0, 0, 0
	p.Sampling, p.SamplingRate, p.BatchSize = "full", 1, p.Records
	p.Steps, p.Draws = Chains*(Warmup+Kept), 1
	return nil
}
