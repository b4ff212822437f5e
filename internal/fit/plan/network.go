package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/net"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
)

// Defaults for networks. With more weights than records every record's gradient is clipped,
// and Adam makes the clip norm irrelevant.
const (
	wideBatch    = 512
	wideEpochs   = 20
	mostRate     = 0.03
	unitRate     = 0.056 // rate for an output that sums one product
	deltaAverage = 0.25
)

// networkRate is the rate of Adam for m. Layer l has W_l trained weights, and each of its
// outputs sums F_l products of a weight:
//
//	min(0.03, 0.056/√F), F = Σ_l W_l max(1, F_l) / Σ_l W_l.
//
// Steps of equal size for every weight are mostly noise, and move an output by about √F
// times that size if its inputs are near 1. An embedding has F_l = 1, because a record
// picks its rows. The constants were chosen on MNIST (784-100-10) and simulated texts.
func networkRate(m *models.Model) float64 {
	weights, products := 0.0, 0.0
	for _, l := range m.Layers {
		weights += float64(l.Weights)
		products += float64(l.Weights * max(1, l.FanIn))
	}
	return math.Min(mostRate, unitRate*math.Sqrt(weights/products))
}

// hasNetwork reports whether the model has weights of networks.
func hasNetwork(m *models.Model) bool {
	return slices.ContainsFunc(m.Params, func(p models.Param) bool { return p.Weight })
}

// withNetwork fills the open fields of c for a model with networks: a point estimate, the
// mean of the last quarter of the iterates, and Adam at networkRate. With more parameters
// than records it also sets flat clipping at C = 1 and batches of 512 records for at least
// 1000 steps and 20 epochs. Without privacy only a model with more parameters than records
// has this rate.
func withNetwork(c Config, m *models.Model) Config {
	c.Guide = cmp.Or(c.Guide, guide.DeltaName)
	if c.Averaging == nil && c.Guide == guide.DeltaName {
		last := deltaAverage
		c.Averaging = &last
	}
	wide := m.P > c.Records
	if wide || !c.NonPrivate {
		switch c.Optimizer {
		case "", optimizer.AdamName:
			c.LearningRate = cmp.Or(c.LearningRate, networkRate(m))
		case optimizer.AdamCorrectedName:
			rate := networkRate(m)
			if !c.NonPrivate { // its steps are longer than Adam's; without noise they are Adam's
				rate /= 2
			}
			c.LearningRate = cmp.Or(c.LearningRate, rate)
		}
	}
	if !wide {
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
	return c
}

// checkWeights refuses weights without a prior under a guide that needs one: without
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
