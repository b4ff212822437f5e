// Package continuous holds the distributions of a real number, of a positive one
// and of one between bounds.
package continuous

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"math"
)

// Normal is the Gaussian with mean loc and standard deviation scale.
//
//	p(x) = exp(-z²/2) / (scale √(2π)),  z = (x - loc)/scale
//
// Johnson, Kotz and Balakrishnan 1994, Continuous Univariate Distributions,
// vol. 1, ch. 13.
var Normal = family.Distribution{
	Name:    "normal",
	Summary: "Gaussian with mean loc and standard deviation scale",
	Args: []family.Arg{
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return normalLogDensity(b, x, args[0], args[1])
	},
	Mean: func(_ *graph.Builder, args []*graph.Node) *graph.Node { return args[0] },
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // loc P(X > x) + scale² p(x)
		above := b.Exp(b.LogNormalCDF(b.Neg(family.Standardise(b, x, args[0], args[1]))))
		density := b.Exp(normalLogDensity(b, x, args[0], args[1]))
		return b.Add(b.Mul(args[0], above), b.Mul(b.Square(args[1]), density))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogNormalCDF(family.Standardise(b, x, args[0], args[1]))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogNormalCDF(b.Neg(family.Standardise(b, x, args[0], args[1])))
	},
	// (2π)^((1−β)/2) / √β
	Power: func(args []*graph.Node, beta float64) family.Power {
		// the slope is largest at one standard deviation of f^(β−1)
		return family.Power{Scale: args[1], LogIntegral: (1-beta)*family.HalfLog2Pi - math.Log(beta)/2, LogHeight: -family.HalfLog2Pi,
			Location: args[0], LogSlope: (1-beta)*family.HalfLog2Pi - (1+math.Log(beta-1))/2}
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = args[0][0] + args[1][0]*rng.Normal()
	},
}

// normalLogDensity is log N(x; loc, scale²).
func normalLogDensity(b *graph.Builder, x, loc, scale *graph.Node) *graph.Node {
	z := family.Standardise(b, x, loc, scale)
	constant := b.Add(family.LogOf(b, scale), b.Const(family.HalfLog2Pi))
	return b.Sub(b.Mul(b.Const(-0.5), b.Square(z)), constant)
}
