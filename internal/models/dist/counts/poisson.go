// Package counts holds the distributions of a count, bernoulli among them.
package counts

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Poisson counts events that come at a rate = exp(log_rate).
//
//	log p(x) = x log rate - rate - log x!
//
// McCullagh and Nelder 1989, ch. 6.
var Poisson = family.Distribution{
	Name:    "poisson",
	Summary: "count with mean rate; log_rate = log(rate)",
	Args: []family.Arg{
		{Name: "rate", Support: support.Positive},
		{Name: "log_rate", Instead: "rate"},
	},
	Support: family.Always(support.Count),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		rate, logRate := args[0], args[1]
		if rate == nil {
			rate = b.Exp(logRate)
		} else {
			logRate = family.LogOf(b, rate)
		}
		return b.Sub(b.Sub(b.Mul(x, logRate), rate), family.LogFactorial(b, x))
	},
	Mean: poissonRate,
	Tail: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node { // rate P(X > x - 1)
		rate := poissonRate(b, args)
		return b.Mul(rate, b.Exp(b.LogGammaP(x, rate)))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogGammaQ(b.Add(x, b.Const(1)), poissonRate(b, args))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogGammaP(b.Add(x, b.Const(1)), poissonRate(b, args))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = family.DrawPoisson(rateOf(args[0], args[1]), rng)
	},
}

// rateOf is a rate that is given directly or by its log.
func rateOf(rate, log []float64) float64 {
	if rate == nil {
		return math.Exp(log[0])
	}
	return rate[0]
}

// poissonRate is the rate, given as such or by its log.
func poissonRate(b *graph.Builder, args []*graph.Node) *graph.Node {
	if args[0] == nil {
		return b.Exp(args[1])
	}
	return args[0]
}
