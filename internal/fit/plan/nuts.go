package plan

import (
	"fmt"

	"d3p/internal/fit/start"
	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/nuts"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// Number of chains of the No-U-Turn sampler, and of transitions in each.
const (
	Chains = 4
	Warmup = 1000
	Kept   = 1000
)

// Limits of models that the sampler draws from by default. Each transition costs a few gradients of all records:
// within mostWork, records times operations of a record, it takes seconds to a minute. Above nuts.DenseMost
// parameters its metric is diagonal, so that a trajectory takes more steps, and the limit is mostDiagonalWork. Weights
// of networks have too many modes.
const (
	mostWork         = 2e6
	mostDiagonalWork = 2e5
	mostSampled      = 500 // parameters
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
	most := mostWork
	if m.P > nuts.DenseMost {
		most = mostDiagonalWork
	}
	if err != nil || hasNetwork(m) || start.Default(m) == settings.InitPrior || m.P > mostSampled || float64(cfg.Records)*work(tape) > most {
		return settings.MethodVI
	}
	return settings.MethodNUTS
}

// work is the cost of the gradient of one record, in additions.
func work(t *graph.Tape) float64 {
	sum := 0.0
	for _, in := range t.Record {
		switch in.Op {
		case graph.OpMatVec, graph.OpOuter:
			sum += float64(in.Rows * in.Cols * in.Width)
		default:
			sum += costOf(in.Op) * float64(t.Buffers[in.Dst].Size)
		}
	}
	return sum
}

// costOf is roughly the time of an operation for one number relative to that of an addition, on
// one thread of an AMD EPYC; of an incomplete gamma function from the time of whole fits, with its
// derivative in the shape. Operations that are not listed count as 1, though some take up to 10.
func costOf(op graph.Op) float64 {
	switch op {
	case graph.OpLogGammaP, graph.OpLogGammaQ:
		return 300
	case graph.OpLogBetaI, graph.OpLogBetaIFirst, graph.OpLogBetaISecond:
		return 300
	case graph.OpPow, graph.OpTrigamma:
		return 20
	}
	return 1
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
