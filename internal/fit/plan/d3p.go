package plan

import (
	"d3p/internal/fit/optimizer"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// The Python package leaves batch size and steps to its user. These are the settings of its
// paper's hierarchical model, with fewer steps.
const (
	d3pRate  = 0.1
	d3pSteps = 10000
)

// withD3P fills the open fields of c with the algorithm of the Python package d3p 0.2:
// vanilla gradients, a fresh θ for every record, prior and entropy inside the clip, C = 1,
// Adam at 1e-3 from scale 1, the last iterate, batches of fixed size without replacement.
// The accountant takes the sampling that really runs: a record displaces another one under
// add-or-remove and under substitution. Prediger et al. 2022, arXiv:2103.11648.
func withD3P(c Config) Config {
	c.Gradient = or(c.Gradient, settings.GradientVanilla)
	c.Neighbours = or(c.Neighbours, string(event.Substitute))
	c.Sampling = or(c.Sampling, sampler.FixedSize)
	if c.SamplingRate == 0 && c.BatchSize == 0 && c.Sampling != sampler.Full {
		c.SamplingRate = d3pRate
	}
	if c.Epochs == 0 {
		c.Steps = or(c.Steps, d3pSteps)
	}
	c.Clipping = or(c.Clipping, settings.ClippingFlat)
	c.ClipNorm = or(c.ClipNorm, 1)
	c.Optimizer = or(c.Optimizer, optimizer.AdamName)
	c.LearningRate = or(c.LearningRate, 1e-3)
	c.InitScale = or(c.InitScale, 1)
	if c.Averaging == nil {
		last := 0.0
		c.Averaging = &last
	}
	c.NoiseAware = or(c.NoiseAware, settings.NoiseAwareNone)
	return c
}
