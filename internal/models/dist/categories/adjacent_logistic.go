package categories

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// AdjacentLogistic is the index of an ordered level: level k+1 has exp(eta - c_k) times
// the probability of level k (the adjacent-category logit model).
//
//	log p(x) = Σ_{j<x} (eta - c_j) - log Σ_k exp(Σ_{j<k} (eta - c_j))
//
// Agresti 2010, Analysis of Ordinal Categorical Data, ch. 4.
var AdjacentLogistic = family.Distribution{
	Name:    "adjacent_logistic",
	Summary: "ordered level whose log odds against the level below are eta - cutpoints",
	Args:    []family.Arg{{Name: "eta"}, {Name: "cutpoints", Rank: 1}},
	Support: family.Always(support.Category),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		cut := support.LastDim(args[1])
		zero := b.Const(0)
		odds := b.CumSum(b.Sub(args[0], args[1]), cut.Name) // of the levels above the first, against it
		own := b.Gather(odds, cut.Name, b.Max(b.Sub(x, b.Const(1)), zero))
		return b.Sub(b.Where(b.Less(zero, x), own, zero), b.Softplus(b.LogSumExp(odds, cut.Name)))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		logits := make([]float64, len(args[1])+1)
		for k, c := range args[1] {
			logits[k+1] = logits[k] + args[0][0] - c
		}
		dst[0] = float64(family.DrawIndex(levelProbabilities(nil, logits), rng))
	},
}
