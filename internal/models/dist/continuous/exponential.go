package continuous

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Exponential is the waiting time between events that come at a rate.
//
//	p(x) = rate exp(-rate x),  x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 19.
var Exponential = family.Distribution{
	Name:    "exponential",
	Summary: "waiting time with mean 1/rate",
	Args:    []family.Arg{{Name: "rate", Support: support.Positive, Optional: true, Default: 1}},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Sub(family.LogOf(b, args[0]), b.Mul(args[0], x))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node { return b.Reciprocal(args[0]) },
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // (x + 1/rate) P(X > x)
		return b.Mul(b.Add(x, b.Reciprocal(args[0])), b.Exp(b.Neg(b.Mul(args[0], x))))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return family.Log1mExp(b, b.Mul(args[0], x))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Neg(b.Mul(args[0], x))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = family.DrawExponential(rng) / args[0][0]
	},
}
