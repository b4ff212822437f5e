package counts

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Bernoulli is 1 with probability probs = 1/(1+exp(-logits)), else 0.
//
//	log p(x) = x·logits - log(1 + exp(logits)) = x log p + (1-x) log(1-p)
//
// The logits form is finite for any logits; a probability that is a sigmoid is replaced by
// its logits. McCullagh and Nelder 1989, Generalized Linear Models, ch. 4.
var Bernoulli = family.Distribution{
	Name:    "bernoulli",
	Summary: "1 with probability probs, else 0; logits = log(probs/(1-probs))",
	Args: []family.Arg{
		{Name: "probs", Support: support.UnitInterval},
		{Name: "logits", Instead: "probs"},
	},
	Support: family.Always(support.Binary),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		if logits := LogitsOf(args[0], args[1]); logits != nil {
			return b.Sub(b.Mul(x, logits), b.Softplus(logits))
		}
		return b.Where(x, family.LogOf(b, args[0]), family.Log1mOf(b, args[0]))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node { return probability(b, args[0], args[1]) },
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = 0
		if rng.Uniform() < successProbability(args[0], args[1]) {
			dst[0] = 1
		}
	},
}

// LogitsOf is the logits of a success probability if they are given or the argument of a
// sigmoid; else nil.
func LogitsOf(probs, logits *graph.Node) *graph.Node {
	if logits == nil && probs.Op() == graph.OpSigmoid {
		return probs.Args()[0]
	}
	return logits
}

// probability is the success probability, given as such or by its logits.
func probability(b *graph.Builder, probs, logits *graph.Node) *graph.Node {
	if logits != nil {
		return b.Sigmoid(logits)
	}
	return probs
}

// successProbability is probability for numbers.
func successProbability(probs, logits []float64) float64 {
	if probs != nil {
		return probs[0]
	}
	return 1 / (1 + math.Exp(-logits[0]))
}
