package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Cauchy has no mean; loc is its median, scale half its interquartile range.
//
//	p(x) = 1 / (π scale (1 + z²)),  z = (x - loc)/scale
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 16.
var Cauchy = family.Distribution{
	Name:    "cauchy",
	Summary: "Cauchy with median loc and half interquartile range scale",
	Args: []family.Arg{
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return cauchyLogDensity(b, x, args[0], args[1])
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return cauchyLogTail(b, b.Neg(family.Standardise(b, x, args[0], args[1])))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return cauchyLogTail(b, family.Standardise(b, x, args[0], args[1]))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = args[0][0] + args[1][0]*drawCauchy(rng)
	},
}

func cauchyLogDensity(b *graph.Builder, x, loc, scale *graph.Node) *graph.Node {
	z := family.Standardise(b, x, loc, scale)
	return b.Neg(b.AddAll(b.Log1p(b.Square(z)), family.LogOf(b, scale), b.Const(family.LogPi)))
}

// cauchyLogTail is log P(Z > z) = log(1/2 - atan(z)/π); for z > 1 it is
// log(atan(1/z)/π), which keeps its digits in the tail.
func cauchyLogTail(b *graph.Builder, z *graph.Node) *graph.Node {
	far := b.Less(b.Const(1), z)
	near := b.Sub(b.Const(0.5), b.Mul(b.Const(1/math.Pi), b.Atan(z)))
	tail := b.Mul(b.Const(1/math.Pi), b.Atan(b.Reciprocal(b.Where(far, z, b.Const(1)))))
	return b.Log(b.Where(far, tail, near))
}

// drawCauchy is a ratio of normals.
func drawCauchy(rng family.Rand) float64 { return rng.Normal() / rng.Normal() }
