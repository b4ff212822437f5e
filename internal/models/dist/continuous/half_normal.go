package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// HalfNormal is the absolute value of a centred Gaussian.
//
//	p(x) = 2 exp(-z²/2) / (scale √(2π)),  z = x/scale, x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 13, section 10.1.
var HalfNormal = family.Distribution{
	Name:    "half_normal",
	Summary: "absolute value of a Gaussian with mean 0 and standard deviation scale",
	Args:    []family.Arg{{Name: "scale", Support: support.Positive, Optional: true, Default: 1}},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Add(b.Const(math.Ln2), normalLogDensity(b, x, b.Const(0), args[0]))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		return b.Mul(args[0], b.Const(math.Sqrt(2/math.Pi)))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Log(b.Erf(b.Div(x, b.Mul(args[0], b.Const(math.Sqrt2)))))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Add(b.Const(math.Ln2), b.LogNormalCDF(b.Neg(b.Div(x, args[0]))))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = math.Abs(args[0][0] * rng.Normal())
	},
}
