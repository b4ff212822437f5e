package continuous

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// InverseGamma is the law of 1/y for a gamma y with this shape and rate scale.
//
//	p(x) = scale^shape x^(-shape-1) exp(-scale/x) / Γ(shape),  x > 0
//
// Its mean scale/(shape-1) exists for shape > 1 only. Johnson, Kotz and
// Balakrishnan 1994, vol. 1, ch. 17.
var InverseGamma = family.Distribution{
	Name:    "inverse_gamma",
	Summary: "reciprocal of a gamma with this shape and rate scale",
	Args: []family.Arg{
		{Name: "shape", Support: support.Positive},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		shape, scale := args[0], args[1]
		constant := b.Sub(b.Mul(shape, family.LogOf(b, scale)), b.Lgamma(shape))
		return b.Sub(constant, b.Add(b.Mul(b.Add(shape, b.Const(1)), family.LogOf(b, x)), b.Mul(scale, reciprocalOf(b, x))))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogGammaQ(args[0], b.Mul(args[1], reciprocalOf(b, x)))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogGammaP(args[0], b.Mul(args[1], reciprocalOf(b, x)))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = args[1][0] / family.DrawGamma(args[0][0], rng)
	},
}

// reciprocalOf is 1/x, exp(-u) where x is exp(u).
func reciprocalOf(b *graph.Builder, x *graph.Node) *graph.Node {
	if x.Op() == graph.OpExp {
		return b.Exp(b.Neg(x.Args()[0]))
	}
	return b.Reciprocal(x)
}
