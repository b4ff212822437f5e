package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/start"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
)

// Config is what a person asked for. The zero value of a field leaves the
// leaves the decision to New, which makes it from public facts alone; Options gives
// each field its flag name. Choosing any of these by looking at private results
// costs privacy that no accountant sees.
type Config struct {
	Records int // N, declared and public

	Epsilon, Delta  float64
	Adjacency       string  // an event.Relation
	NoiseMultiplier float64 // σ instead of a calibrated one

	Sampling     string  // sampler scheme
	SamplingRate float64 // q
	BatchSize    int     // instead of q: B/N
	Steps        int     // T
	Epochs       float64 // instead of T: epochs/q

	Clipping     string
	ClipNorm     float64 // C; C₀ when clipping is adaptive
	ClipQuantile float64

	Optimizer    string
	LearningRate float64
	Schedule     string
	Momentum     float64 // sgd
	WeightDecay  float64 // adamw

	Guide     string
	Rank      int // of the low-rank guide
	Init      string
	InitScale float64
	InitSeed  uint64 // of public draws only; it never fixes privacy noise or batches

	Gradient      string
	Theta         string
	PriorGradient string
	Averaging     *float64 // fraction of the steps; 0 is the last iterate, nil the default
	NoiseAware    string
	Compat        string // "d3p": the Python package's algorithm

	NonPrivate bool // fit-nonprivate: no clipping, no noise, no guarantee
	Draws      int  // θ draws per step of a non-private fit
}

// CompatD3P is the value of Config.Compat for the Python package d3p.
const CompatD3P = "d3p"

// validate reports every value that cannot be meant, all at once, each error
// naming its flag.
func (c Config) validate() error {
	var v validator
	v.check(c.Records >= 1, "records", c.Records, "is not a number of records", "--records 5000, or `rows: {public: 5000}` in the model file")
	if !c.NonPrivate {
		v.privacy(c)
	}
	v.sampling(c)
	v.optimization(c)
	v.oneOf("clipping", c.Clipping, ClippingAdaptive, ClippingFlat, ClippingAutomatic)
	v.optionalPositive("clip-norm", c.ClipNorm)
	v.check(c.ClipQuantile == 0 || c.ClipQuantile > 0 && c.ClipQuantile < 1, "clip-quantile", c.ClipQuantile, "is not between 0 and 1", "--clip-quantile 0.8")
	v.check(c.ClipQuantile == 0 || c.Clipping == "" || c.Clipping == ClippingAdaptive, "clip-quantile", c.ClipQuantile,
		"has no meaning under --clipping "+c.Clipping, "--clipping adaptive")
	v.gradient(c)
	return errors.Join(v.errs...)
}

// validator collects errors.
type validator struct{ errs []error }

// check adds "--flag: value complaint (type fix)" unless ok.
func (v *validator) check(ok bool, flag string, value any, complaint, fix string) {
	if !ok {
		v.errs = append(v.errs, fmt.Errorf("--%s: %v %s (type %s)", flag, value, complaint, fix))
	}
}

func (v *validator) oneOf(flag, value string, choices ...string) {
	if value != "" && !slices.Contains(choices, value) {
		v.errs = append(v.errs, fmt.Errorf("--%s: unknown value %q (choose one of %s)", flag, value, strings.Join(choices, ", ")))
	}
}

func (v *validator) optionalPositive(flag string, x float64) {
	v.check(x == 0 || isPositive(x), flag, x, "is not positive", "a number above 0")
}

func isPositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

func (v *validator) privacy(c Config) {
	if c.Epsilon == 0 && c.NoiseMultiplier == 0 {
		v.errs = append(v.errs, errors.New("--epsilon: missing (say how much privacy to spend: type --epsilon 1)"))
	}
	v.check(c.Epsilon == 0 || isPositive(c.Epsilon), "epsilon", c.Epsilon, "is not positive", "--epsilon 1")
	v.check(c.Delta == 0 || c.Delta > 0 && c.Delta < 1, "delta", c.Delta, "is not between 0 and 1", "--delta 1e-6")
	v.optionalPositive("noise-multiplier", c.NoiseMultiplier)
	if c.Adjacency != "" {
		rel, err := event.ParseRelation(c.Adjacency)
		if err != nil {
			v.errs = append(v.errs, fmt.Errorf("--adjacency: %w", err))
		}
		v.check(rel != event.ZeroOut || c.Clipping != ClippingAdaptive && c.ClipQuantile == 0, "clipping", ClippingAdaptive,
			"is not accounted for under zero-out neighbours: a null record counts as unclipped", "--clipping flat")
	}
	v.check(c.Draws <= 1, "draws", c.Draws, "draws per step are for fit-nonprivate only", "--draws 1")
}

func (v *validator) sampling(c Config) {
	v.check(c.SamplingRate == 0 || c.SamplingRate > 0 && c.SamplingRate <= 1, "sampling-rate", c.SamplingRate, "is not a fraction of the records", "--sampling-rate 0.1")
	v.check(c.BatchSize >= 0 && (c.Records < 1 || c.BatchSize <= c.Records), "batch-size", c.BatchSize, "is not between 1 and the number of records", "--batch-size 128")
	v.check(c.BatchSize == 0 || c.SamplingRate == 0, "batch-size", c.BatchSize, "and --sampling-rate say the same thing", "one of them")
	v.oneOf("sampling", c.Sampling, sampler.Schemes()...)
	v.check(c.Sampling != samplingFull || c.BatchSize == 0 && (c.SamplingRate == 0 || c.SamplingRate == 1),
		"sampling", c.Sampling, "takes every record in every step", "--sampling poisson, or no --sampling-rate and --batch-size")
	v.check(c.Steps >= 0, "steps", c.Steps, "is not a number of steps", "--steps 1000")
	v.optionalPositive("epochs", c.Epochs)
	v.check(c.Steps == 0 || c.Epochs == 0, "epochs", c.Epochs, "and --steps say the same thing", "one of them")
}

func (v *validator) optimization(c Config) {
	v.oneOf("optimizer", c.Optimizer, optimizer.Names()...)
	v.optionalPositive("learning-rate", c.LearningRate)
	v.oneOf("schedule", c.Schedule, optimizer.ScheduleNames()...)
	v.check(c.Momentum >= 0 && c.Momentum < 1, "momentum", c.Momentum, "is not in [0, 1)", "--momentum 0.9")
	v.check(c.WeightDecay >= 0 && !math.IsInf(c.WeightDecay, 1), "weight-decay", c.WeightDecay, "is negative or not a number", "--weight-decay 0.01")
	v.oneOf("init", c.Init, start.Names()...)
	v.optionalPositive("init-scale", c.InitScale)
	if a := c.Averaging; a != nil {
		v.check(*a >= 0 && *a <= 1, "averaging", *a, "is not a fraction of the steps", "--averaging 0.5, or 0 for the last iterate")
	}
}

func (v *validator) gradient(c Config) {
	v.oneOf("guide", strings.ReplaceAll(c.Guide, "_", "-"), guideNames()...)
	v.check(c.Rank >= 0, "rank", c.Rank, "is not a number of factors", "--rank 5")
	v.oneOf("gradient", c.Gradient, GradientAligned, GradientVanilla)
	v.oneOf("theta", c.Theta, ThetaShared, ThetaPerRecord)
	v.oneOf("prior-gradient", c.PriorGradient, PriorOutside, PriorInside)
	v.oneOf("noise-aware", c.NoiseAware, NoiseAwareCurvature, NoiseAwareVariance, NoiseAwareTemper, NoiseAwareNone)
	v.oneOf("compat", c.Compat, CompatD3P)
	if c.Gradient == GradientVanilla || c.Compat == CompatD3P && c.Gradient == "" {
		v.check(c.Guide == "" || strings.HasPrefix(c.Guide, "mean"), "guide", c.Guide, "has no vanilla gradients", "--gradient aligned, or --guide mean-field")
		v.check(c.NoiseAware != NoiseAwareTemper && c.NoiseAware != NoiseAwareCurvature, "noise-aware", c.NoiseAware, "needs aligned gradients", "--gradient aligned")
		return
	}
	v.check(c.Theta != ThetaPerRecord, "theta", c.Theta, "has no aligned gradients: a sum of per-record gradients at different θ does not give the scales'", "--gradient vanilla")
	v.check(c.PriorGradient != PriorInside, "prior-gradient", c.PriorGradient, "is for vanilla gradients", "--gradient vanilla")
}

// or returns x, or fallback when x is the zero value.
func or[T comparable](x, fallback T) T {
	var zero T
	if x == zero {
		return fallback
	}
	return x
}
