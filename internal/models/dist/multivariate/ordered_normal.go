package multivariate

import (
	"slices"

	"d3p/internal/models/dist/continuous"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// OrderedNormal is the order statistic of independent Gaussians: the prior of
// cutpoints.
//
//	p(x) = n! Π_k N(x_k; loc, scale²),  x_1 < x_2 < ... < x_n
//
// David and Nagaraja 2003, Order Statistics, eq. 2.2.2.
var OrderedNormal = family.Distribution{
	Name:      "ordered_normal",
	Summary:   "independent Gaussians with mean loc and standard deviation scale, sorted",
	EventRank: 1,
	Args: []family.Arg{
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Ordered),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		n := support.LastDim(x)
		factorial := family.LogFactorial(b, b.Const(float64(n.Size)))
		return b.Add(factorial, b.Sum(continuous.Normal.LogDensity(b, x, args), n.Name))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		for k := range dst {
			dst[k] = args[0][0] + args[1][0]*rng.Normal()
		}
		slices.Sort(dst)
	},
}
