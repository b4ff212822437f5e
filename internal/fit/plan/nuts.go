package plan

import (
	"fmt"

	"d3p/internal/fit/start"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// Number of chains of the No-U-Turn sampler, and of transitions in each.
const (
	Chains = 4
	Warmup = 1000
	Kept   = 1000
)

// Limits of models that the sampler draws from by default. Each transition costs a
// few gradients of all records: within mostWork, records times operations of a
// record, it takes seconds to a minute. Above mostSampled its metric is diagonal, and
// weights of networks have too many modes.
const (
	mostWork    = 2e6
	mostSampled = 200 // parameters
)

// defaultMethod is the sampler if it takes seconds and the posterior probably has one mode.
// It is vi otherwise, and if the user gave a setting of the guide or its optimizer.
func defaultMethod(m *models.Model, cfg Config) string {
	given := settings.Given(&cfg, settings.Algorithm)
	delete(given, "records")
	delete(given, "init-seed")
	if len(given) > 0 || cfg.Draws > 0 || cfg.Compat != "" {
		return settings.MethodVI
	}
	tape, err := m.DensityTape()
	if err != nil || hasNetwork(m) || start.Default(m) == settings.InitPrior || m.P > mostSampled ||
		float64(cfg.Records)*float64(len(tape.Record)) > mostWork {
		return settings.MethodVI
	}
	return settings.MethodNUTS
}

// setSampler plans a fit by the No-U-Turn sampler. Its steps are the transitions of all
// chains, and its posterior is a sample.
func (p *Plan) setSampler() error {
	if _, err := p.model.DensityTape(); err != nil {
		return fmt.Errorf("--method: nuts needs the log likelihood of the records, and here %w (type --method vi)", err)
	}
	p.Guide, p.Rank, p.Blocks = guide.SampleName, 0, nil
	p.Optimizer, p.Schedule, p.LearningRate, p.Momentum, p.WeightDecay, p.Averaging = "", "", 0, 0, 0, 0
	p.Sampling, p.Batches, p.SamplingRate, p.BatchSize = sampler.Full, "", 1, p.Records
	p.Steps, p.Draws = Chains*(Warmup+Kept), 1
	return nil
}
