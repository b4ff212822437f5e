package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Uniform is equally likely everywhere between two constant bounds.
//
//	p(x) = 1 / (upper - lower),  lower < x < upper
//
// Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 26.
var Uniform = family.Distribution{
	Name:    "uniform",
	Summary: "equally likely between the constants lower and upper",
	Args: []family.Arg{
		{Name: "lower", Optional: true, Default: 0},
		{Name: "upper", Optional: true, Default: 1},
	},
	Support: func(args []float64) support.Support {
		return support.Support{Kind: support.Interval, Lower: args[0], Upper: args[1]}
	},
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		outside := b.Add(b.Less(x, args[0]), b.Less(args[1], x))
		return b.Where(outside, b.Const(math.Inf(-1)), b.Neg(b.Log(b.Sub(args[1], args[0]))))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		return b.Mul(b.Const(0.5), b.Add(args[0], args[1]))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Log(b.Div(b.Sub(x, args[0]), b.Sub(args[1], args[0])))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Log(b.Div(b.Sub(args[1], x), b.Sub(args[1], args[0])))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = args[0][0] + (args[1][0]-args[0][0])*rng.Uniform()
	},
}
