package multivariate

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Dirichlet is a vector of positive parts that add up to 1; a single
// concentration serves all parts.
//
//	p(x) = Γ(Σ a_k) Π_k x_k^(a_k - 1) / Γ(a_k)
//
// as a density of the first K-1 parts. Kotz, Balakrishnan and Johnson 2000,
// Continuous Multivariate Distributions, vol. 1, ch. 49.
var Dirichlet = family.Distribution{
	Name:      "dirichlet",
	Summary:   "parts that add up to 1; part k has mean proportional to concentration_k",
	EventRank: 1,
	Args: []family.Arg{
		{Name: "concentration", Rank: 1, Scalar: true, Support: support.Positive},
	},
	Support: family.Always(support.Simplex),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		part := support.LastDim(x)
		// Expanded first: a scalar counts once for each part.
		a := b.Add(args[0], b.Expand(b.Const(0), graph.Shape{part}))
		constant := b.Sub(b.Lgamma(b.Sum(a, part.Name)), b.Sum(b.Lgamma(a), part.Name))
		return b.Add(constant, b.Sum(b.Mul(b.Sub(a, b.Const(1)), family.LogOf(b, x)), part.Name))
	},
	Coordinates: dirichletCoordinates,
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		largest := math.Inf(-1)
		for k := range dst {
			dst[k] = family.DrawLogGamma(args[0][min(k, len(args[0])-1)], rng)
			largest = math.Max(largest, dst[k])
		}
		for k := range dst {
			dst[k] = math.Exp(dst[k] - largest)
		}
		total := support.Sum(dst)
		for k := range dst {
			dst[k] /= total
		}
	},
}

// dirichletCoordinates are the fractions that stick breaking takes off a dirichlet's
// vector: independent betas, with the concentration of an element and the sum of those
// after it. Devroye 1986, Non-Uniform Random Variate Generation, XI.4.
func dirichletCoordinates(b *graph.Builder, args []*graph.Node, u *graph.Node, shape graph.Shape) family.Coordinates {
	event, free := shape[len(shape)-1], support.LastDim(u)
	all := b.Expand(args[0], shape)
	first, after := make([]*graph.Node, free.Size), make([]*graph.Node, free.Size)
	rest := b.Slice(all, event.Name, event.Size-1)
	for k := free.Size - 1; k >= 0; k-- {
		first[k], after[k] = b.Slice(all, event.Name, k), rest
		rest = b.Add(rest, first[k])
	}
	p := support.EventLast(b, b.Stack(free, first...), 1)
	q := support.EventLast(b, b.Stack(free, after...), 1)
	logit, _ := support.Sticks(b, u)
	constant := b.Sub(b.Lgamma(b.Add(p, q)), b.Add(b.Lgamma(p), b.Lgamma(q)))
	return family.Coordinates{
		LogDensity: b.AddAll(constant, b.Mul(p, b.LogSigmoid(logit)), b.Mul(q, b.LogSigmoid(b.Neg(logit)))),
		LogBelow:   b.LogBetaI(logit, p, q),
		LogAbove:   b.LogBetaI(b.Neg(logit), q, p),
	}
}
