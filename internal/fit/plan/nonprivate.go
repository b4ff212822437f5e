package plan

import (
	"cmp"
	"math"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models/guide"
	"d3p/internal/settings"
)

// Defaults of fit-nonprivate. Without privacy noise the remaining errors are those of the
// family, the reparameterisation draws and the optimizer. Hence a full-rank guide while it
// is cheap (mean field alone moves a mean of the collinear abalone posterior by 0.13
// posterior sd), draws in antithetic pairs (η, −η), whose gradients average to the exact
// one for a normal posterior, four such pairs, gradients without noise at a normal optimum
// in the second half (Loop.estimator; the noise makes the fitted scales too small, for
// abalone by 8 % instead of 4 %), and a cosine schedule that ends at step size zero. The
// means are then within 0.07 posterior sd of the reference for the regressions of
// posteriordb; the sds are within 5 % except for the residual scale of the smallest (46
// records), where no normal is closer; docs/results/benchmarks.md.
const (
	nonPrivateSteps     = 6000
	nonPrivateRate      = 0.05 // of adam
	nonPrivateDraws     = 8
	nonPrivateAveraging = 0.25
	nonPrivateFullRank  = 100 // parameters
)

// planNonPrivate plans the same algorithm without clipping and noise.
func (p *Plan) planNonPrivate(cfg Config) error {
	p.Method = cmp.Or(cfg.Method, settings.MethodVI)
	cfg.Steps = cmp.Or(cfg.Steps, nonPrivateSteps)
	if cfg.Epochs > 0 {
		cfg.Steps = 0
	}
	if err := p.chooseSampling(cfg); err != nil {
		return err
	}
	p.Clipping, p.NoiseAware = ClippingOff, settings.NoiseAwareNone
	p.Schedule = cmp.Or(cfg.Schedule, "cosine")
	if cfg.Averaging == nil {
		p.Averaging = nonPrivateAveraging
	}
	if cfg.Guide == "" && p.Latent <= nonPrivateFullRank {
		p.Guide = guide.FullRankName
	}
	if p.Optimizer == optimizer.AdamName {
		p.LearningRate = cmp.Or(cfg.LearningRate, nonPrivateRate)
	}
	draws := nonPrivateDraws
	if p.Guide == guide.DeltaName {
		draws = 1 // for a point
	}
	p.Draws = cmp.Or(cfg.Draws, draws)
	p.ClipNorm = math.MaxFloat64
	p.Warnings = []Warning{{"not-private", "nothing protects the records of this fit: keep its results where the records are"}}
	if p.Method == settings.MethodVI && cfg.Guide == "" && p.Guide == guide.MeanFieldName && p.Latent > nonPrivateFullRank && !hasNetwork(p.model) {
		p.Warnings = append(p.Warnings, Warning{"mean-field", "of so many parameters the guide is mean_field, whose intervals are several times too narrow, beside groups above all: --method nuts takes longer and is right"})
	}
	return nil
}
