package plan

import (
	"cmp"

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
	c.Gradient = cmp.Or(c.Gradient, settings.GradientVanilla)
	c.Neighbours = cmp.Or(c.Neighbours, string(event.Substitute))
	c.Sampling = cmp.Or(c.Sampling, sampler.FixedSize)
	if c.SamplingRate == 0 && c.BatchSize == 0 && c.Sampling != sampler.Full {
		c.SamplingRate = d3pRate
	}
	if c.Epochs == 0 {
		c.Steps = cmp.Or(c.Steps, d3pSteps)
	}
	c.Clipping = cmp.Or(c.Clipping, settings.ClippingFlat)
	c.ClipNorm = cmp.Or(c.ClipNorm, 1)
	c.Optimizer = cmp.Or(c.Optimizer, optimizer.AdamName)
	c.LearningRate = cmp.Or(c.LearningRate, 1e-3)
	c.InitScale = cmp.Or(c.InitScale, 1)
	if c.Averaging == nil {
		last := 0.0
		c.Averaging = &last
	}
	c.NoiseAware = cmp.Or(c.NoiseAware, settings.NoiseAwareNone)
	return c
}
