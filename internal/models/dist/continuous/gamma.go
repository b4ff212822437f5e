package continuous

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Gamma has a shape and a rate (inverse scale).
//
//	p(x) = rate^shape x^(shape-1) exp(-rate x) / Γ(shape),  x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 17.
var Gamma = family.Distribution{
	Name:    "gamma",
	Summary: "gamma with a shape and a rate; mean shape/rate",
	Args: []family.Arg{
		{Name: "shape", Support: support.Positive},
		{Name: "rate", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		shape, rate := args[0], args[1]
		constant := b.Sub(b.Mul(shape, family.LogOf(b, rate)), b.Lgamma(shape))
		return b.Add(constant, b.Sub(b.Mul(b.Sub(shape, b.Const(1)), family.LogOf(b, x)), b.Mul(rate, x)))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node { return b.Div(args[0], args[1]) },
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // the mean times P(Y > x), Y of shape + 1
		return b.Mul(b.Div(args[0], args[1]), b.Exp(b.LogGammaQ(b.Add(args[0], b.Const(1)), b.Mul(args[1], x))))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogGammaP(args[0], b.Mul(args[1], x))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogGammaQ(args[0], b.Mul(args[1], x))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = family.DrawGamma(args[0][0], rng) / args[1][0]
	},
}
