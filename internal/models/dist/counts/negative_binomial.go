package counts

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// NegativeBinomial counts with mean = exp(log_mean) and variance
// mean + mean²/phi: a Poisson whose rate is a gamma of shape phi.
//
//	p(x) = Γ(x+phi)/(x! Γ(phi)) (mean/(mean+phi))^x (phi/(mean+phi))^phi
//
// With d = log(mean/phi) the last two factors are exp(x d - (x+phi) log(1+exp d)).
// Hilbe 2011, Negative Binomial Regression, ch. 8 (NB2).
var NegativeBinomial = family.Distribution{
	Name:    "negative_binomial",
	Summary: "count with this mean and variance mean + mean^2/phi; log_mean = log(mean)",
	Args: []family.Arg{
		{Name: "mean", Support: support.Positive},
		{Name: "phi", Support: support.Positive},
		{Name: "log_mean", Instead: "mean"},
	},
	Support: family.Always(support.Count),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		phi, d := args[1], meanToPhi(b, args)
		total := b.Add(x, phi)
		return b.AddAll(
			b.Lgamma(total), b.Neg(b.Lgamma(phi)), b.Neg(family.LogFactorial(b, x)),
			b.Mul(x, d), b.Neg(b.Mul(total, b.Softplus(d))))
	},
	Mean: negativeBinomialMean,
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // mean P(Y > x - 1), Y with phi + 1 and the same mean/phi
		return b.Mul(negativeBinomialMean(b, args), b.Exp(b.LogBetaI(meanToPhi(b, args), x, b.Add(args[1], b.Const(1)))))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogBetaI(b.Neg(meanToPhi(b, args)), args[1], b.Add(x, b.Const(1)))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogBetaI(meanToPhi(b, args), b.Add(x, b.Const(1)), args[1])
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		phi, mean := args[1][0], rateOf(args[0], args[2])
		dst[0] = family.DrawPoisson(mean*family.DrawGamma(phi, rng)/phi, rng)
	},
}

func negativeBinomialMean(b *graph.Builder, args []*graph.Node) *graph.Node {
	if args[0] == nil {
		return b.Exp(args[2])
	}
	return args[0]
}

// meanToPhi is log(mean/phi).
func meanToPhi(b *graph.Builder, args []*graph.Node) *graph.Node {
	return b.Sub(family.LogGiven(b, args[0], args[2]), family.LogOf(b, args[1]))
}
