package dist

import "d3p/internal/models/graph"

// beta lives between 0 and 1 and has mean alpha/(alpha+beta).
//
//	p(x) = x^(alpha-1) (1-x)^(beta-1) Γ(alpha+beta) / (Γ(alpha) Γ(beta))
//
// Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 25.
var beta = Distribution{
	Name:      "beta",
	Summary:   "between 0 and 1 with mean alpha/(alpha+beta) and precision alpha+beta",
	Formula:   "x^(alpha-1) (1-x)^(beta-1) G(alpha+beta) / (G(alpha) G(beta)), 0 < x < 1",
	Reference: "Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 25",
	Args: []Arg{
		{Name: "alpha", Support: Support{Kind: Positive}},
		{Name: "beta", Support: Support{Kind: Positive}},
	},
	Support: always(Support{Kind: UnitInterval}),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		alpha, beta, one := args[0], args[1], b.Const(1)
		constant := b.Sub(b.Lgamma(b.Add(alpha, beta)), b.Add(b.Lgamma(alpha), b.Lgamma(beta)))
		return b.AddAll(
			b.Mul(b.Sub(alpha, one), LogOf(b, x)),
			b.Mul(b.Sub(beta, one), Log1mOf(b, x)),
			constant)
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		return b.Div(args[0], b.Add(args[0], args[1]))
	},
	Sample: func(dst []float64, args [][]float64, rng Rand) {
		dst[0] = drawBeta(args[0][0], args[1][0], rng)
	},
}
