package plan

import (
	"fmt"
	"math"
	"strings"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/net"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// Defaults for networks with more weights than records, where every record's
// gradient is clipped and Adam makes the clip norm irrelevant.
const (
	wideBatch    = 512
	wideEpochs   = 20
	wideRate     = 2e-3
	deltaAverage = 0 // the last iterate: weights of different iterates do not mix
)

// hasNetwork reports whether the model has weights of networks.
func hasNetwork(m *models.Model) bool {
	for i := range m.Params {
		if m.Params[i].Weight {
			return true
		}
	}
	return false
}

// withNetwork fills the open fields of c for a model with networks: a point estimate and
// its last iterate; and, with more parameters than records, flat clipping at C = 1,
// batches of 512 records and Adam at 2e-3 for at least 1000 steps and 20 epochs; without
// privacy the same, except for the clipping.
func withNetwork(c Config, m *models.Model) Config {
	c.Guide = or(c.Guide, guide.DeltaName)
	if c.Averaging == nil && c.Guide == guide.DeltaName {
		last := float64(deltaAverage)
		c.Averaging = &last
	}
	if m.P <= c.Records {
		return c
	}
	if c.Clipping == "" && c.ClipQuantile == 0 && !c.NonPrivate {
		c.Clipping = settings.ClippingFlat
	}
	if c.SamplingRate == 0 && c.BatchSize == 0 && c.Sampling != sampler.Full {
		c.SamplingRate = math.Min(1, wideBatch/float64(c.Records))
	}
	if c.Steps == 0 && c.Epochs == 0 {
		c.Steps = defaultSteps
		if c.SamplingRate > 0 {
			c.Steps = max(c.Steps, int(math.Ceil(wideEpochs/c.SamplingRate)))
		}
	}
	if c.Optimizer == "" || c.Optimizer == optimizer.AdamName {
		c.LearningRate = or(c.LearningRate, wideRate)
	}
	return c
}

// checkWeights reports weights without a prior under a guide that needs one: without
// information in the data its entropy would grow without bound.
func checkWeights(p *Plan, m *models.Model) error {
	if p.Guide == guide.DeltaName {
		return nil
	}
	for i := range m.Params {
		if w := &m.Params[i]; w.Weight && w.Prior == net.FlatPrior {
			net, _, _ := strings.Cut(w.Name, ".")
			return fmt.Errorf("--guide: %s needs a prior for the weights of net %s (type --guide delta, or write `prior: normal(0, 1)` there in the model file)", p.Guide, net)
		}
	}
	return nil
}
