package spec

import (
	"github.com/goccy/go-yaml/ast"
)

// Guide says how the posterior is approximated. Values that the file does not
// state are decided by the fit's plan.
type Guide struct {
	At        Position
	Type      Value[string]
	Init      Value[string]   // where the means start: prior or zero
	InitScale Value[float64]  // standard deviation of every latent scalar at the start
	Rank      Value[int]      // of low_rank
	Blocks    []GuideBlock    // parameters with a family of their own
	Spread    []Value[string] // parameters that start spread over the declared bounds
	Params    []*Definition   // of custom: the laws of parameters, in terms of free parameters
	Free      []*Definition   // of custom: free parameters and where they start, zeros [dim, ...]
	Rows      []*Definition   // of amortised: the guide of every local latent, normal(mean, sd)
}

// Fit holds the settings of the algorithm. Values that the file does not state
// are decided by the fit's plan, from N, P, epsilon and delta alone.
type Fit struct {
	At           Position
	Scheme       Value[string]
	Rate         Value[float64] // expected fraction of records per step
	BatchSize    Value[int]
	Iterations   Value[int]
	Epochs       Value[float64]
	ClipNorm     Value[float64]
	ClipMode     Value[string] // adaptive, flat or automatic
	ClipQuantile Value[float64]
	Optimizer    Value[string]
	LearningRate Value[float64]
	Schedule     Value[string]  // of the learning rate
	Momentum     Value[float64] // of sgd
	WeightDecay  Value[float64] // of adamw
	AverageLast  Value[float64] // fraction of the steps averaged into the result
	Gradient     Value[string]  // aligned or vanilla
	NoiseAware   Value[string]  // variance, temper or none
	Compat       Value[string]  // d3p: the algorithm of the Python package
}

// Amortised is the guide of models with local latents: theirs are functions of
// the record, and all other parameters are points.
const Amortised = "amortised"

// guide reads `guide:`.
func (r *reader) guide(e entry, g *Guide) {
	g.At = e.at
	r.settings(e.node, "guide", fields{
		"type":       func(e entry) { g.Type = r.guideType(e) },
		"init":       func(e entry) { r.guideInit(e, g) },
		"init_scale": func(e entry) { g.InitScale = r.positive(e) },
		"rank":       func(e entry) { g.Rank = r.count(e, 1) },
		"blocks":     func(e entry) { g.Blocks = r.guideBlocks(e) },
		"params":     func(e entry) { g.Params = r.definitions(e) },
		"free":       func(e entry) { g.Free = r.definitions(e) },
		"rows":       func(e entry) { g.Rows = r.definitions(e) },
	})
	r.checkBlocks(g)
	r.checkCustom(g)
}

// fit reads `fit:`.
func (r *reader) fit(e entry, f *Fit) {
	f.At = e.at
	r.settings(e.node, "fit", fields{
		"sampling":   func(e entry) { r.sampling(e, f) },
		"iterations": func(e entry) { f.Iterations = r.count(e, 1) },
		"epochs":     func(e entry) { f.Epochs = r.positive(e) },
		"clip":       func(e entry) { r.clip(e, f) },
		"optimizer":  func(e entry) { r.optimizer(e, f) },
		"average_last": func(e entry) {
			f.AverageLast = r.numberIn(e, "between 0 and 1", func(x float64) bool { return x >= 0 && x <= 1 })
		},
		"gradient":    func(e entry) { f.Gradient = r.choice(e, "aligned", "vanilla") },
		"noise_aware": func(e entry) { f.NoiseAware = r.choice(e, "curvature", "variance", "temper", "none") },
		"compat":      func(e entry) { f.Compat = r.choice(e, "d3p") },
		"trace":       func(e entry) { r.trace(e) },
		"microbatch":  func(e entry) { r.choice(e, "auto") }, // the engine decides
	})
	if f.Iterations.IsSet() && f.Epochs.IsSet() {
		r.add(f.Epochs.At, "", "iterations and epochs say the same thing; state one")
	}
	if f.Rate.IsSet() && f.BatchSize.IsSet() {
		r.add(f.BatchSize.At, "", "rate and batch_size say the same thing; state one")
	}
}

// sampling reads `sampling: {scheme:, rate:, batch_size:}`.
func (r *reader) sampling(e entry, f *Fit) {
	r.settings(e.node, "sampling", fields{
		"scheme":     func(e entry) { f.Scheme = r.scheme(e) },
		"rate":       func(e entry) { f.Rate = r.fraction(e) },
		"batch_size": func(e entry) { f.BatchSize = r.count(e, 1) },
	})
	if f.Scheme.V == "full" && (f.BatchSize.IsSet() || f.Rate.IsSet() && f.Rate.V != 1) {
		r.add(f.Scheme.At, "drop the rate, or use scheme poisson", "scheme full takes every record in every step")
	}
}

// clip reads `clip: {norm:, mode:, quantile:}`.
func (r *reader) clip(e entry, f *Fit) {
	r.settings(e.node, "clip", fields{
		"unit": func(e entry) { r.choice(e, "record") }, // a unit of several rows is one record, too
		"norm": func(e entry) { f.ClipNorm = r.positive(e) },
		"mode": func(e entry) { f.ClipMode = r.choice(e, "adaptive", "flat", "automatic") },
		"quantile": func(e entry) {
			f.ClipQuantile = r.numberIn(e, "between 0 and 1", func(x float64) bool { return x > 0 && x < 1 })
		},
	})
	if f.ClipQuantile.IsSet() && f.ClipMode.IsSet() && f.ClipMode.V != "adaptive" {
		r.add(f.ClipQuantile.At, "", "only adaptive clipping has a quantile")
	}
}

// optimizers lists the optimizers of the fit.
var optimizers = []string{"adam", "adamw", "adagrad", "sgd"}

// optimizer reads `optimizer: adam` or `optimizer: {name:, lr:, schedule:, momentum:, weight_decay:}`.
func (r *reader) optimizer(e entry, f *Fit) {
	if _, ok := e.node.(*ast.MappingNode); !ok {
		f.Optimizer = r.choice(e, optimizers...)
		return
	}
	r.settings(e.node, "optimizer", fields{
		"name":     func(e entry) { f.Optimizer = r.choice(e, optimizers...) },
		"schedule": func(e entry) { f.Schedule = r.choice(e, "constant", "cosine", "step") },
		"momentum": func(e entry) {
			f.Momentum = r.numberIn(e, "at least 0 and below 1", func(x float64) bool { return x >= 0 && x < 1 })
		},
		"weight_decay": func(e entry) {
			f.WeightDecay = r.numberIn(e, "at least 0", func(x float64) bool { return x >= 0 })
		},
		"lr": func(e entry) { f.LearningRate = r.positive(e) },
	})
}

// trace reads `trace: {loss: {spend: epsilon, every: steps}}`, a clipped and
// noised loss, and says that it cannot be bought yet.
func (r *reader) trace(e entry) {
	if r.describesNothing() {
		return
	}
	what := func(e entry) {
		r.object(e.node, e.key, fields{
			"spend": func(e entry) { r.positive(e) },
			"every": func(e entry) { r.count(e, 1) },
		})
		r.add(e.at, "remove it: the released iterates cost nothing more", "buying the %s of a fit is not available yet", e.key)
	}
	r.object(e.node, "trace", fields{"loss": what, "norms": what})
}
