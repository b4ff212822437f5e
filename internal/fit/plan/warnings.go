package plan

import (
	"fmt"
	"math"

	"d3p/internal/models/guide"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

// Thresholds of the warnings.
const (
	noiseDominates = 0.05        // ν
	biasShows      = minAdaptive // μN: where clipping is flat
	largeEpsilon   = 10.0
	batchesShow    = 0.21 // k: standard deviations are 10 % wider
	boundsUnclear  = 0.06 // noise of a count, as a part of N: a bought scale is wrong by a factor of 2
	boundsClear    = 0.04 // wrong by a quarter
)

// warn sets ν = √P/(μN) and collects the warnings before the fit. It refuses nothing.
func (p *Plan) warn() {
	n, latent := float64(p.Records), float64(p.Latent)
	p.NoiseToSignal = math.Sqrt(latent) / (p.Mu * n)
	p.Warnings = []Warning{}
	add := func(when bool, id, format string, args ...any) {
		if when {
			p.Warnings = append(p.Warnings, Warning{id, fmt.Sprintf(format, args...)})
		}
	}
	add(p.NoiseToSignal > noiseDominates, "noise-dominates",
		"noise will dominate: %d parameters from %d records at epsilon %.3g (sqrt(P)/(mu N) = %.2g, above %g); a larger epsilon, more records or a smaller model would help",
		p.Latent, p.Records, p.Epsilon, p.NoiseToSignal, noiseDominates)
	add(p.Private && p.ModelsNoise() && p.Signal() < biasShows, "clipping-bias",
		"few records for this epsilon (mu N = %.3g, below %g): clipping moves intercepts and standard deviations, and the correction assumes predictors spread as declared; of 90 %% intervals on simulated tables 91 %% held for coefficients, 87 %% for intercepts and standard deviations; a larger epsilon or more records would help",
		p.Signal(), biasShows)
	why := p.loneEffects()
	add(why != "", "lone-effects",
		"%s: the posterior will leave out how effects of groups go with other parameters, so no standard deviation of groups and no intercept will be resolved", why)
	add(p.model.Encoding.RowsPerUnit > 1 && p.DesignEffects == nil, "dependent-rows", "rows of one %s are taken as independent: where they are alike, intervals are too narrow, so no parameter will be called resolved; rows_per_unit: 1 keeps one of each",
		p.model.Spec.Data.Unit.Entity.V)
	add(p.Delta >= 1/n, "delta-above-1/n",
		"delta %.3g is at least 1/N: a mechanism that publishes one record in full could meet it; leave --delta out for %.2g", p.Delta, DefaultDelta(p.Records))
	add(p.Epsilon > largeEpsilon, "large-epsilon",
		"epsilon %.3g promises little: the odds of an attacker's guess may change by a factor of %.3g", p.Epsilon, math.Exp(p.Epsilon))
	add(p.SamplingRate*n < 1, "empty-batches",
		"a batch holds %.2g records on average, so most steps are pure noise; a larger --sampling-rate would help", p.SamplingRate*n)
	add(p.NoiseMultiplier < 2 && p.SamplingRate < 1 && p.SamplingRate*n*float64(p.Steps) < 0.999*mostDraws, "small-batches",
		"small batches cost accuracy: noise multiplier %.3g is below 2; a larger --sampling-rate spends the same epsilon better", p.NoiseMultiplier)
	add(p.SumsGradients() && p.BatchVariance(p.Steps) > batchesShow, "few-draws",
		"all batches together have %.2g of %.2g records, so standard deviations are about %.0f %% wider than with all records; a larger --sampling-rate takes longer",
		p.SamplingRate*n*float64(p.Steps), n, 100*(math.Sqrt(1+p.BatchVariance(p.Steps))-1))
	if b := p.unclearBounds(); b != nil {
		price := max(b.OfBounds, b.OfScale) * b.Histogram.Noise / (boundsClear * n)
		add(true, "unclear-bounds", "the %s cannot be seen at this price: a count has noise of standard deviation %.3g among %d records, and a scale would be wrong by a factor of 2 and more; a price of %.2g would do, or declare it",
			b.Purpose(), b.Histogram.Noise, p.Records, price)
	}
	add(p.Clipping == settings.ClippingAutomatic, "biased-clipping",
		"automatic clipping is biased: for logistic likelihoods the normalised gradients have no stationary point; adaptive clipping is the default")
	add(p.Guide == guide.FullRankName && latent > p.Mu*math.Sqrt(n)/3, "full-rank-noise",
		"a full-rank guide pays only up to mu sqrt(N)/3 = %.3g parameters, the model has %d; mean-field would be closer", p.Mu*math.Sqrt(n)/3, p.Latent)
	add(p.Gradient == settings.GradientVanilla, "vanilla-gradients",
		"vanilla gradients release %d noisy numbers a step instead of %d; aligned gradients are the default", p.Release, p.Latent)
}

// loneEffects is why the fit will end in independent normals beside effects of groups; empty if it will not.
func (p *Plan) loneEffects() string {
	switch most := JointLimit(p.model); {
	case !p.Private || p.Guide != guide.MeanFieldName || !hasGroups(p.model):
		return ""
	case p.Latent > most:
		return fmt.Sprintf("%d parameters, at most %d go together", p.Latent, most)
	case p.model.Encoding.RowsPerUnit > 1 && p.DesignEffects == nil:
		return "units of several rows"
	case !p.SumsGradients():
		return "--noise-aware " + p.NoiseAware
	}
	return ""
}

// unclearBounds is the purchase of bounds or scales with the most noise; nil if none has too much.
func (p *Plan) unclearBounds() (worst *table1.Bounds) {
	most := boundsUnclear * float64(p.Records)
	for i := range p.Bounds {
		if b := &p.Bounds[i]; b.Histogram.Noise > most {
			worst, most = b, b.Histogram.Noise
		}
	}
	return worst
}
