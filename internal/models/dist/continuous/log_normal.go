package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// LogNormal is exp(y) for a Gaussian y with mean loc and standard deviation
// scale.
//
//	p(x) = N(log x; loc, scale²) / x,  x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 14.
var LogNormal = family.Distribution{
	Name:    "log_normal",
	Summary: "exponential of a Gaussian with mean loc and standard deviation scale",
	Args: []family.Arg{
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		log := family.LogOf(b, x)
		return b.Sub(normalLogDensity(b, log, args[0], args[1]), log)
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		return b.Exp(b.Add(args[0], b.Mul(b.Const(0.5), b.Square(args[1]))))
	},
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // the mean times P(Y > x), Y with loc + scale²
		square := b.Square(args[1])
		above := Normal.LogCCDF(b, family.LogOf(b, x), []*graph.Node{b.Add(args[0], square), args[1]})
		return b.Exp(b.AddAll(args[0], b.Mul(b.Const(0.5), square), above))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return Normal.LogCDF(b, family.LogOf(b, x), args)
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return Normal.LogCCDF(b, family.LogOf(b, x), args)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = math.Exp(args[0][0] + args[1][0]*rng.Normal())
	},
}
