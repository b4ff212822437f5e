// Package categories holds the distributions of a level, ordered or not, and of the counts
// of levels.
package categories

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Categorical is the index of a level, 0 to K-1, with probabilities
// probs = softmax(logits).
//
//	log p(x) = logits_x - log Σ_k exp(logits_k)
//
// Agresti 2013, Categorical Data Analysis, ch. 8.
var Categorical = family.Distribution{
	Name:    "categorical",
	Summary: "level with probabilities probs; logits are their logarithms up to a constant",
	Args: []family.Arg{
		{Name: "probs", Rank: 1, Support: support.Simplex},
		{Name: "logits", Rank: 1, Instead: "probs"},
	},
	Support: family.Always(support.Category),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		if logits := args[1]; logits != nil {
			level := levelDim(logits)
			return b.Sub(b.Gather(logits, level, x), b.LogSumExp(logits, level))
		}
		return b.Gather(family.LogOf(b, args[0]), levelDim(args[0]), x)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = float64(family.DrawIndex(levelProbabilities(args[0], args[1]), rng))
	},
}

// levelDim is the name of the last dim, which holds the levels.
func levelDim(x *graph.Node) string { return support.LastDim(x).Name }

// levelProbabilities are probs, or softmax(logits) up to a constant.
func levelProbabilities(probs, logits []float64) []float64 {
	if probs != nil {
		return probs
	}
	largest := math.Inf(-1)
	for _, l := range logits {
		largest = math.Max(largest, l)
	}
	p := make([]float64, len(logits))
	for i, l := range logits {
		p[i] = math.Exp(l - largest)
	}
	return p
}
