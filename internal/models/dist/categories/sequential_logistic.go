package categories

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// SequentialLogistic is the index of an ordered level reached step by step: a walk stops at
// level k with the odds exp(c_k - eta), else it continues (the sequential model, of
// continuation ratios).
//
//	p(x) = σ(c_x - eta) Π_{j<x} σ(eta - c_j),  the first factor 1 at the last level
//
// Tutz 1990, British Journal of Mathematical and Statistical Psychology 43.
var SequentialLogistic = family.Distribution{
	Name:    "sequential_logistic",
	Summary: "ordered level reached step by step, which stops at level k with the odds exp(cutpoints[k] - eta)",
	Args:    []family.Arg{{Name: "eta"}, {Name: "cutpoints", Rank: 1}},
	Support: family.Always(support.Category),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		eta, cuts := args[0], args[1]
		cut := support.LastDim(cuts)
		zero, last := b.Const(0), b.Const(float64(cut.Size-1))
		odds := b.Sub(cuts, eta)
		passed := b.Gather(b.CumSum(b.LogSigmoid(b.Neg(odds)), cut.Name), cut.Name, b.Max(b.Sub(x, b.Const(1)), zero))
		stops := b.LogSigmoid(b.Gather(odds, cut.Name, b.Min(x, last)))
		return b.Add(b.Where(b.Less(zero, x), passed, zero), b.Where(b.Less(last, x), zero, stops))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = 0
		for _, c := range args[1] {
			if rng.Uniform() < 1/(1+math.Exp(args[0][0]-c)) {
				return
			}
			dst[0]++
		}
	},
}
