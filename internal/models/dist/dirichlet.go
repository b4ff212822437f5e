package dist

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// dirichlet is a vector of positive parts that add up to 1; a single
// concentration serves all parts.
//
//	p(x) = Γ(Σ a_k) Π_k x_k^(a_k - 1) / Γ(a_k)
//
// as a density of the first K-1 parts. Kotz, Balakrishnan and Johnson 2000,
// Continuous Multivariate Distributions, vol. 1, ch. 49.
var dirichlet = Distribution{
	Name:      "dirichlet",
	Summary:   "parts that add up to 1; part k has mean proportional to concentration_k",
	EventRank: 1,
	Args: []Arg{
		{Name: "concentration", Rank: 1, Scalar: true, Support: support.Support{Kind: support.Positive}},
	},
	Support: always(support.Support{Kind: support.Simplex}),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		part := support.LastDim(x)
		// Expanded first: a scalar counts once for each part.
		a := b.Add(args[0], b.Expand(b.Const(0), graph.Shape{part}))
		constant := b.Sub(b.Lgamma(b.Sum(a, part.Name)), b.Sum(b.Lgamma(a), part.Name))
		return b.Add(constant, b.Sum(b.Mul(b.Sub(a, b.Const(1)), LogOf(b, x)), part.Name))
	},
	Sample: func(dst []float64, args [][]float64, rng Rand) {
		largest := math.Inf(-1)
		for k := range dst {
			dst[k] = drawLogGamma(args[0][min(k, len(args[0])-1)], rng)
			largest = math.Max(largest, dst[k])
		}
		for k := range dst {
			dst[k] = math.Exp(dst[k] - largest)
		}
		total := support.Sum(dst)
		for k := range dst {
			dst[k] /= total
		}
	},
}
