package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// HalfCauchy is the absolute value of a centred Cauchy; scale is its median.
//
//	p(x) = 2 / (π scale (1 + z²)),  z = x/scale, x > 0
//
// Polson and Scott 2012, Bayesian Analysis 7(4).
var HalfCauchy = family.Distribution{
	Name:    "half_cauchy",
	Summary: "absolute value of a Cauchy with location 0; scale is its median",
	Args:    []family.Arg{{Name: "scale", Support: support.Positive, Optional: true, Default: 1}},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Add(b.Const(math.Ln2), cauchyLogDensity(b, x, b.Const(0), args[0]))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Log(b.Mul(b.Const(2/math.Pi), b.Atan(b.Div(x, args[0]))))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Add(b.Const(math.Ln2), cauchyLogTail(b, b.Div(x, args[0])))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = math.Abs(args[0][0] * drawCauchy(rng))
	},
}
