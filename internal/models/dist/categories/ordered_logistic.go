package categories

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// OrderedLogistic is the index of an ordered level, 0 to K-1: the number of
// cutpoints below a logistic variable centred at eta (the cumulative logit
// model).
//
//	p(x) = σ(c_{x+1} - eta) - σ(c_x - eta),  c_0 = -∞, c_K = ∞
//
// The difference is taken as σ(a) - σ(b) = σ(a) σ(-b) (1 - exp(b-a)), which
// keeps its digits in both tails. McCullagh 1980, JRSS B 42(2).
var OrderedLogistic = family.Distribution{
	Name:    "ordered_logistic",
	Summary: "ordered level: the number of cutpoints below a logistic variable centred at eta",
	Args:    cutpointArgs,
	Support: family.Always(support.Category),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		eta, cuts := args[0], args[1]
		cut := support.LastDim(cuts)
		zero, last := b.Const(0), b.Const(float64(cut.Size-1))
		above := b.Gather(cuts, cut.Name, b.Min(x, last))
		below := b.Gather(cuts, cut.Name, b.Max(b.Sub(x, b.Const(1)), zero))
		hasAbove := b.Less(x, b.Const(float64(cut.Size)))
		hasBelow := b.Less(zero, x)
		// Inner levels only: at the ends above and below are the same cutpoint.
		inner := b.Mul(hasAbove, hasBelow)
		gap := b.Where(inner, b.Sub(above, below), b.Const(1))
		return b.AddAll(
			b.Where(hasAbove, b.LogSigmoid(b.Sub(above, eta)), zero),
			b.Where(hasBelow, b.LogSigmoid(b.Sub(eta, below)), zero),
			b.Where(inner, family.Log1mExp(b, gap), zero))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		u := rng.Uniform()
		latent := args[0][0] + math.Log(u) - math.Log1p(-u)
		dst[0] = 0
		for _, c := range args[1] {
			if c < latent {
				dst[0]++
			}
		}
	},
}
