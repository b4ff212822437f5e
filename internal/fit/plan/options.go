package plan

import (
	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/start"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/sampler"
)

// Option describes one field of Config for a command line: its flag, the help
// text, the values it may take, and where it is stored.
type Option struct {
	Name    string
	Usage   string
	Choices []string // empty: any value of the field's type
	// Field returns a pointer into c: *float64, **float64 (optional), *int,
	// *uint64 or *string.
	Field func(c *Config) any
}

// Options returns every option of a fit, in the order of the help text.
func Options() []Option {
	return []Option{
		{"epsilon", "privacy budget ε of the whole fit", nil, func(c *Config) any { return &c.Epsilon }},
		{"delta", "privacy budget δ (default min(1e-5, N^-1.1))", nil, func(c *Config) any { return &c.Delta }},
		{"adjacency", "which data sets are neighbours (default add-remove)", []string{"add-remove", "substitute", "zero-out"}, func(c *Config) any { return &c.Adjacency }},
		{"noise-multiplier", "noise standard deviation in units of the clip norm, instead of the one that ε needs", nil, func(c *Config) any { return &c.NoiseMultiplier }},
		{"records", "public number of records N, or a bound (default: the model file's)", nil, func(c *Config) any { return &c.Records }},

		{"sampling", "how a step chooses its records (default poisson; full when the rate is 1)", sampler.Schemes(), func(c *Config) any { return &c.Sampling }},
		{"sampling-rate", "expected fraction q of the records per step (default min(1, max(5000/N, 4μ/√T)))", nil, func(c *Config) any { return &c.SamplingRate }},
		{"batch-size", "expected records per step, instead of the rate", nil, func(c *Config) any { return &c.BatchSize }},
		{"steps", "number of steps T (default 1000)", nil, func(c *Config) any { return &c.Steps }},
		{"epochs", "number of expected passes over the data, instead of steps", nil, func(c *Config) any { return &c.Epochs }},

		{"clipping", "how a record's gradient is bounded (default adaptive, or flat when μN < 200; automatic is biased: it has no stationary point for logistic likelihoods)", []string{ClippingAdaptive, ClippingFlat, ClippingAutomatic}, func(c *Config) any { return &c.Clipping }},
		{"clip-norm", "bound C on a record's gradient, in L2 norm (default 1; adaptive clipping starts at 0.1). Alone, it implies --clipping flat", nil, func(c *Config) any { return &c.ClipNorm }},
		{"clip-quantile", "fraction of records that adaptive clipping leaves unclipped (default 1 - clamp(10√P/(μN), 0.01, 0.4))", nil, func(c *Config) any { return &c.ClipQuantile }},

		{"optimizer", "how noisy gradients become steps (default adam)", optimizer.Names(), func(c *Config) any { return &c.Optimizer }},
		{"learning-rate", "step size (default 0.03 for adam)", nil, func(c *Config) any { return &c.LearningRate }},
		{"schedule", "how the step size changes (default constant)", optimizer.ScheduleNames(), func(c *Config) any { return &c.Schedule }},
		{"momentum", "heavy-ball momentum of sgd", nil, func(c *Config) any { return &c.Momentum }},
		{"weight-decay", "decoupled weight decay of adamw", nil, func(c *Config) any { return &c.WeightDecay }},

		{"guide", "family of the approximate posterior (default mean-field)", guideNames(), func(c *Config) any { return &c.Guide }},
		{"rank", "number of factors of the low-rank guide (default 5, at most P)", nil, func(c *Config) any { return &c.Rank }},
		{"init", "where the posterior's location starts (default zero; for mixtures prior: real-valued parameters from one draw of their prior)", start.Names(), func(c *Config) any { return &c.Init }},
		{"init-scale", "standard deviation of every parameter at the start (default 0.1)", nil, func(c *Config) any { return &c.InitScale }},
		{"init-seed", "seed of public draws: starting point and reparameterisation noise. It never fixes privacy noise or batches", nil, func(c *Config) any { return &c.InitSeed }},

		{"gradient", "which gradient is released (default aligned: P numbers a step instead of 2P)", []string{GradientAligned, GradientVanilla}, func(c *Config) any { return &c.Gradient }},
		{"theta", "one draw of the parameters per step, or one per record (vanilla gradients only)", []string{ThetaShared, ThetaPerRecord}, func(c *Config) any { return &c.Theta }},
		{"prior-gradient", "prior and entropy after the noise, or inside every record's gradient (vanilla gradients only)", []string{PriorOutside, PriorInside}, func(c *Config) any { return &c.PriorGradient }},
		{"averaging", "fraction of the steps whose iterates are averaged; 0 takes the last one (default 0.5)", nil, func(c *Config) any { return &c.Averaging }},
		{"noise-aware", "how the posterior accounts for the privacy noise (default curvature, where the guide is mean-field: the noise's variance is added, and the scales come from the curvature that all steps together show; else variance: it is added)", []string{NoiseAwareCurvature, NoiseAwareVariance, NoiseAwareTemper, NoiseAwareNone}, func(c *Config) any { return &c.NoiseAware }},
		{"compat", "another package's algorithm, accounted for what it really is", []string{CompatD3P}, func(c *Config) any { return &c.Compat }},
	}
}

func guideNames() []string {
	var names []string
	for _, f := range guide.Families() {
		names = append(names, f.Name)
	}
	return append(names, guide.CustomName)
}
