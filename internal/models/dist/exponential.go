package dist

import (
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// exponential is the waiting time between events that come at a rate.
//
//	p(x) = rate exp(-rate x),  x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 19.
var exponential = Distribution{
	Name:    "exponential",
	Summary: "waiting time with mean 1/rate",
	Args:    []Arg{{Name: "rate", Support: support.Support{Kind: support.Positive}, Optional: true, Default: 1}},
	Support: always(support.Support{Kind: support.Positive}),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Sub(LogOf(b, args[0]), b.Mul(args[0], x))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node { return b.Reciprocal(args[0]) },
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return log1mExp(b, b.Mul(args[0], x))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Neg(b.Mul(args[0], x))
	},
	Sample: func(dst []float64, args [][]float64, rng Rand) {
		dst[0] = drawExponential(rng) / args[0][0]
	},
}

// drawExponential is a waiting time of rate 1; Uniform is below 1, so it is
// finite.
func drawExponential(rng Rand) float64 { return -math.Log1p(-rng.Uniform()) }
