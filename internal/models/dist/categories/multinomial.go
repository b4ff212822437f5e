package categories

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Multinomial has the counts of each level in `trials` draws of a Categorical; the counts
// are the event.
//
//	log p(x) = log(trials!) + Σ_k (x_k log probs_k - log(x_k!))
//
// Agresti 2013, Categorical Data Analysis, ch. 1.
var Multinomial = family.Distribution{
	Name:      "multinomial",
	Summary:   "how often each level comes in trials draws with probabilities probs, or logits",
	EventRank: 1,
	Args: []family.Arg{
		{Name: "trials", Support: support.Count},
		{Name: "probs", Rank: 1, Support: support.Simplex},
		{Name: "logits", Rank: 1, Instead: "probs"},
	},
	Support: family.Always(support.Counts),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		level := levelDim(x)
		var logProbs *graph.Node
		if args[2] != nil {
			logProbs = b.LogSoftmax(args[2], level)
		} else {
			logProbs = family.LogOf(b, args[1])
		}
		terms := b.Sub(b.Mul(x, logProbs), family.LogFactorial(b, x))
		return b.Add(family.LogFactorial(b, args[0]), b.Sum(terms, level))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		probs := args[1]
		if probs == nil {
			probs = b.Softmax(args[2], levelDim(args[2]))
		}
		return b.Mul(probs, args[0])
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		weights := levelProbabilities(args[1], args[2])
		left, mass := args[0][0], support.Sum(weights)
		for k := range dst {
			dst[k] = left
			if k < len(dst)-1 {
				dst[k] = family.DrawBinomial(left, min(1, weights[k]/mass), rng)
			}
			left -= dst[k]
			mass -= weights[k]
		}
	},
}
