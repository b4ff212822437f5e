package continuous

import (
	"errors"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Beta lives between 0 and 1. It is given by alpha and beta, or by its mean =
// alpha/(alpha+beta) and its precision kappa = alpha+beta.
//
//	p(x) = x^(alpha-1) (1-x)^(beta-1) Γ(alpha+beta) / (Γ(alpha) Γ(beta))
//
// Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 25; Ferrari and Cribari-Neto
// 2004, Journal of Applied Statistics 31(7), for mean and kappa.
var Beta = family.Distribution{
	Name:    "beta",
	Summary: "between 0 and 1, with mean alpha/(alpha+beta) and precision kappa = alpha+beta",
	Args: []family.Arg{
		{Name: "alpha", Support: support.Positive},
		{Name: "beta", Support: support.Positive},
		{Name: "mean", Support: support.UnitInterval, Instead: "alpha"},
		{Name: "kappa", Support: support.Positive, Instead: "beta"},
	},
	Support: family.Always(support.UnitInterval),
	Check: func(args []*graph.Node) error {
		if (args[2] == nil) != (args[3] == nil) {
			return errors.New("beta takes alpha and beta, or mean and kappa")
		}
		return nil
	},
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		alpha, beta, kappa := betaShapes(b, args)
		one := b.Const(1)
		constant := b.Sub(b.Lgamma(kappa), b.Add(b.Lgamma(alpha), b.Lgamma(beta)))
		return b.AddAll(
			b.Mul(b.Sub(alpha, one), family.LogOf(b, x)),
			b.Mul(b.Sub(beta, one), family.Log1mOf(b, x)),
			constant)
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		if args[2] != nil {
			return args[2]
		}
		return b.Div(args[0], b.Add(args[0], args[1]))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		alpha, beta, _ := betaShapes(b, args)
		return b.LogBetaI(family.LogitOf(b, x), alpha, beta)
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		alpha, beta, _ := betaShapes(b, args)
		return b.LogBetaI(b.Neg(family.LogitOf(b, x)), beta, alpha)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		if args[2] != nil {
			mean, kappa := args[2][0], args[3][0]
			dst[0] = family.DrawBeta(mean*kappa, (1-mean)*kappa, rng)
			return
		}
		dst[0] = family.DrawBeta(args[0][0], args[1][0], rng)
	},
}

// betaShapes are alpha, beta and their sum.
func betaShapes(b *graph.Builder, args []*graph.Node) (alpha, beta, kappa *graph.Node) {
	if args[2] == nil {
		return args[0], args[1], b.Add(args[0], args[1])
	}
	alpha = b.Mul(args[2], args[3])
	return alpha, b.Sub(args[3], alpha), args[3]
}
