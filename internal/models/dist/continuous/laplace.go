package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Laplace has two exponential sides around loc.
//
//	p(x) = exp(-|z|) / (2 scale),  z = (x - loc)/scale
//
// Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 24.
var Laplace = family.Distribution{
	Name:    "laplace",
	Summary: "two exponential sides of mean scale around loc",
	Args: []family.Arg{
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		z := family.Standardise(b, x, args[0], args[1])
		return b.Neg(b.Add(b.Abs(z), b.Add(family.LogOf(b, args[1]), b.Const(math.Ln2))))
	},
	Mean: func(_ *graph.Builder, args []*graph.Node) *graph.Node { return args[0] },
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return laplaceLogTail(b, b.Neg(family.Standardise(b, x, args[0], args[1])))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return laplaceLogTail(b, family.Standardise(b, x, args[0], args[1]))
	},
	// 2^(1−β) / β
	Power: func(args []*graph.Node, beta float64) family.Power {
		return family.Power{Scale: args[1], LogIntegral: (1-beta)*math.Ln2 - math.Log(beta), LogHeight: -math.Ln2,
			Location: args[0], LogSlope: (1 - beta) * math.Ln2} // at the mode
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = args[0][0] + args[1][0]*(family.DrawExponential(rng)-family.DrawExponential(rng))
	},
}

// laplaceLogTail is log P(Z > z): exp(-z)/2 above 0, else 1 - exp(z)/2.
func laplaceLogTail(b *graph.Builder, z *graph.Node) *graph.Node {
	above := b.Sub(b.Neg(z), b.Const(math.Ln2))
	below := b.Log1p(b.Mul(b.Const(-0.5), b.Exp(b.Neg(b.Abs(z)))))
	return b.Where(b.Less(b.Const(0), z), above, below)
}
