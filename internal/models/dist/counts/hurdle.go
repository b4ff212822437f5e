package counts

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Counts with a separate law for zero: 0 with probability zi = 1/(1+exp(-zi_logits)), else
// the base given that it is not 0.
//
//	p(0) = zi,  p(x) = (1-zi) base(x) / (1 - base(0)), x > 0
//
// Mullahy 1986, Journal of Econometrics 33(3).
var (
	HurdlePoisson          = hurdle(&Poisson, poissonArrivals)
	HurdleNegativeBinomial = hurdle(&NegativeBinomial, negativeBinomialClusters)
)

// A compound count is a sum over a Poisson number of clusters, each of at least 1: mean is
// the mean number of clusters, size draws one. The count is 0 if there is no cluster.
type compound struct {
	mean float64
	size func(rng family.Rand) float64
}

// poissonArrivals is a Poisson count (arguments of Poisson): a cluster is 1.
func poissonArrivals(args [][]float64) compound {
	return compound{rateOf(args[0], args[1]), func(family.Rand) float64 { return 1 }}
}

// negativeBinomialClusters is a negative binomial count (arguments of NegativeBinomial): a
// cluster has a logarithmic law (Quenouille 1949, doi:10.2307/3001917).
func negativeBinomialClusters(args [][]float64) compound {
	phi := args[1][0]
	mean := rateOf(args[0], args[2])
	p := mean / (mean + phi)
	return compound{phi * math.Log1p(mean/phi), func(rng family.Rand) float64 { return family.DrawLogarithmic(p, rng) }}
}

// above0 is a draw given that it is above 0. The first cluster comes at a time that is
// exponential below the mean, further ones come after it.
func (c compound) above0(rng family.Rand) float64 {
	first := -math.Log1p(rng.Uniform() * math.Expm1(-c.mean))
	total := c.size(rng)
	for at := first + family.DrawExponential(rng); at < c.mean; at += family.DrawExponential(rng) {
		total += c.size(rng)
	}
	return total
}

// fewClusters is the mean number of clusters below which draws above 0 are made of them;
// above it most draws of the base are above 0.
const fewClusters = 1

// hurdle replaces the zeros of a family of counts, which are compound.
func hurdle(base *family.Distribution, clusters func(args [][]float64) compound) family.Distribution {
	return family.Distribution{
		Name:    "hurdle_" + base.Name,
		Summary: "0 with probability zi, else " + base.Name + " above 0; zi_logits = log(zi/(1-zi))",
		Args:    append(zeroArgs[:2:2], base.Args...),
		Support: family.Always(support.Count),
		LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
			logZero, logOther := logChoice(b, args)
			above := b.Sub(base.LogDensity(b, x, args[2:]), logNotZero(b, base, args))
			return b.Where(x, b.Add(logOther, above), logZero)
		},
		LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
			return family.Log1mExp(b, b.Neg(hurdleLogCCDF(b, base, x, args)))
		},
		LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
			return hurdleLogCCDF(b, base, x, args)
		},
		Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
			_, logOther := logChoice(b, args)
			return b.Mul(b.Exp(b.Sub(logOther, logNotZero(b, base, args))), base.Mean(b, args[2:]))
		},
		Sample: func(dst []float64, args [][]float64, rng family.Rand) {
			dst[0] = 0
			if rng.Uniform() < successProbability(args[0], args[1]) {
				return
			}
			if c := clusters(args[2:]); c.mean < fewClusters {
				dst[0] = c.above0(rng)
				return
			}
			for range family.RejectionTries {
				if base.Sample(dst, args[2:], rng); dst[0] != 0 {
					return
				}
			}
			dst[0] = math.NaN() // the arguments are too extreme for float64
		},
	}
}

// logNotZero is log P(base > 0).
func logNotZero(b *graph.Builder, base *family.Distribution, args []*graph.Node) *graph.Node {
	return family.Log1mExp(b, b.Neg(base.LogDensity(b, b.Const(0), args[2:])))
}

// hurdleLogCCDF is log P(X > x), x >= 0.
func hurdleLogCCDF(b *graph.Builder, base *family.Distribution, x *graph.Node, args []*graph.Node) *graph.Node {
	_, logOther := logChoice(b, args)
	return b.Add(logOther, b.Sub(base.LogCCDF(b, x, args[2:]), logNotZero(b, base, args)))
}
