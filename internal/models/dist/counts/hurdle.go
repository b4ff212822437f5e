package counts

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Counts whose zeros have a law of their own: 0 with probability zi =
// 1/(1+exp(-zi_logits)), else the base given that it is not 0.
//
//	p(0) = zi,  p(x) = (1-zi) base(x) / (1 - base(0)), x > 0
//
// Mullahy 1986, Journal of Econometrics 33(3).
var (
	HurdlePoisson          = hurdle(&Poisson)
	HurdleNegativeBinomial = hurdle(&NegativeBinomial)
)

// hurdle replaces the zeros of a family of counts.
func hurdle(base *family.Distribution) family.Distribution {
	return family.Distribution{
		Name:    "hurdle_" + base.Name,
		Summary: "0 with probability zi, else " + base.Name + " above 0; zi_logits = log(zi/(1-zi))",
		Args:    append(zeroArgs[:2:2], base.Args...),
		Support: family.Always(support.Support{Kind: support.Count}),
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
			for range family.RejectionTries {
				if base.Sample(dst, args[2:], rng); dst[0] != 0 {
					return
				}
			}
			dst[0] = math.NaN() // the base is hardly ever above 0
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
