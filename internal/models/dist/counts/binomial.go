package counts

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Binomial counts the successes of trials independent attempts.
//
//	log p(x) = log(trials choose x) + x·logits - trials·log(1 + exp(logits))
//
// McCullagh and Nelder 1989, ch. 4.
var Binomial = family.Distribution{
	Name:    "binomial",
	Summary: "successes in trials attempts, each with probability probs; logits = log(probs/(1-probs))",
	Args: []family.Arg{
		{Name: "trials", Support: support.Count},
		{Name: "probs", Support: support.UnitInterval},
		{Name: "logits", Instead: "probs"},
	},
	Support: countTo,
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		trials := args[0]
		failures := b.Sub(trials, x)
		choices := b.Sub(family.LogFactorial(b, trials), b.Add(family.LogFactorial(b, x), family.LogFactorial(b, failures)))
		if logits := LogitsOf(args[1], args[2]); logits != nil {
			return b.Add(choices, b.Sub(b.Mul(x, logits), b.Mul(trials, b.Softplus(logits))))
		}
		p := args[1]
		return b.AddAll(choices, b.Mul(x, family.LogOf(b, p)), b.Mul(failures, family.Log1mOf(b, p)))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		return b.Mul(args[0], probability(b, args[1], args[2]))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogBetaI(b.Neg(successLogits(b, args)), b.Sub(args[0], x), b.Add(x, b.Const(1)))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogBetaI(successLogits(b, args), b.Add(x, b.Const(1)), b.Sub(args[0], x))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = family.DrawBinomial(args[0][0], successProbability(args[1], args[2]), rng)
	},
}

// successLogits are the log odds of success, given as such or by probs.
func successLogits(b *graph.Builder, args []*graph.Node) *graph.Node {
	if args[2] != nil {
		return args[2]
	}
	return family.LogitOf(b, args[1])
}

// countTo is the support of a count bounded by the first argument.
func countTo(args []float64) support.Support {
	s := support.Count.Whole()
	if args[0] > 0 { // false for an argument that is not constant
		s.Upper = args[0]
	}
	return s
}
