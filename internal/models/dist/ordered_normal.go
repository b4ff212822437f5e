package dist

import (
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// orderedNormal is the order statistic of independent Gaussians: the prior of
// cutpoints.
//
//	p(x) = n! Π_k N(x_k; loc, scale²),  x_1 < x_2 < ... < x_n
//
// David and Nagaraja 2003, Order Statistics, eq. 2.2.2.
var orderedNormal = Distribution{
	Name:      "ordered_normal",
	Summary:   "independent Gaussians with mean loc and standard deviation scale, sorted",
	EventRank: 1,
	Args: []Arg{
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Support{Kind: support.Positive}, Optional: true, Default: 1},
	},
	Support: always(support.Support{Kind: support.Ordered}),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		n := support.LastDim(x)
		factorial := logFactorial(b, b.Const(float64(n.Size)))
		return b.Add(factorial, b.Sum(normalLogDensity(b, x, args[0], args[1]), n.Name))
	},
	Sample: func(dst []float64, args [][]float64, rng Rand) {
		for k := range dst {
			dst[k] = args[0][0] + args[1][0]*rng.Normal()
		}
		slices.Sort(dst)
	},
}
