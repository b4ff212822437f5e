// Package survival holds the distributions of the time until an event that are
// given by a hazard.
package survival

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Weibull is a waiting time whose hazard grows like x^(shape-1); scale =
// exp(log_scale) is its 63 % quantile.
//
//	p(x) = (shape/scale) (x/scale)^(shape-1) exp(-(x/scale)^shape),  x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 21.
var Weibull = family.Distribution{
	Name:    "weibull",
	Summary: "waiting time with hazard growing like x^(shape-1); log_scale = log(scale)",
	Args: []family.Arg{
		{Name: "shape", Support: support.Positive},
		{Name: "scale", Support: support.Positive},
		{Name: "log_scale", Instead: "scale"},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		z, hazard := weibullHazard(b, x, args)
		// shape log(x/scale) - log x: the scale's logarithm is in z already.
		return b.AddAll(family.LogOf(b, args[0]), z, b.Neg(family.LogOf(b, x)), b.Neg(hazard))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		factor := b.Exp(b.Lgamma(b.Add(b.Const(1), b.Reciprocal(args[0]))))
		if args[1] == nil {
			return b.Mul(b.Exp(args[2]), factor)
		}
		return b.Mul(args[1], factor)
	},
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // scale Γ(1 + 1/shape, (x/scale)^shape)
		order := b.Add(b.Const(1), b.Reciprocal(args[0]))
		_, hazard := weibullHazard(b, x, args)
		return b.Exp(b.AddAll(family.LogGiven(b, args[1], args[2]), b.Lgamma(order), b.LogGammaQ(order, hazard)))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		_, hazard := weibullHazard(b, x, args)
		return family.Log1mExp(b, hazard)
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		_, hazard := weibullHazard(b, x, args)
		return b.Neg(hazard)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		var scale float64
		if args[1] == nil {
			scale = math.Exp(args[2][0])
		} else {
			scale = args[1][0]
		}
		dst[0] = scale * math.Pow(family.DrawExponential(rng), 1/args[0][0])
	},
}

// weibullHazard is z = shape log(x/scale), and exp(z), the cumulative hazard.
func weibullHazard(b *graph.Builder, x *graph.Node, args []*graph.Node) (z, hazard *graph.Node) {
	z = b.Mul(args[0], b.Sub(family.LogOf(b, x), family.LogGiven(b, args[1], args[2])))
	return z, b.Exp(z)
}
