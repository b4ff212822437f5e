package counts

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// BetaBinomial counts the successes of `trials` attempts with one probability drawn from a
// beta distribution.
//
//	log p(x) = log(trials choose x) + log B(x+alpha, trials-x+beta) - log B(alpha, beta)
//
// Johnson, Kemp and Kotz 2005, Univariate Discrete Distributions, ch. 6.
var BetaBinomial = family.Distribution{
	Name:    "beta_binomial",
	Summary: "successes in trials attempts with a probability from beta(alpha, beta)",
	Args: []family.Arg{
		{Name: "trials", Support: support.Count},
		{Name: "alpha", Support: support.Positive},
		{Name: "beta", Support: support.Positive},
	},
	Support: countTo,
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		trials, p, q := args[0], args[1], args[2]
		failures := b.Sub(trials, x)
		choices := b.Sub(family.LogFactorial(b, trials), b.Add(family.LogFactorial(b, x), family.LogFactorial(b, failures)))
		return b.AddAll(choices, logBeta(b, b.Add(x, p), b.Add(failures, q)), b.Neg(logBeta(b, p, q)))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		return b.Mul(args[0], b.Div(args[1], b.Add(args[1], args[2])))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		x, y := family.DrawGamma(args[1][0], rng), family.DrawGamma(args[2][0], rng)
		dst[0] = family.DrawBinomial(args[0][0], x/(x+y), rng)
	},
}

// logBeta is log B(p, q).
func logBeta(b *graph.Builder, p, q *graph.Node) *graph.Node {
	return b.Sub(b.Add(b.Lgamma(p), b.Lgamma(q)), b.Lgamma(b.Add(p, q)))
}
