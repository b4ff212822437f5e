package counts

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Counts with more zeros than a Poisson or a negative binomial: with probability zi =
// 1/(1+exp(-zi_logits)) the count is 0, else it follows the base.
//
//	p(0) = zi + (1-zi) base(0),  p(x) = (1-zi) base(x), x > 0
//
// Lambert 1992, Technometrics 34(1).
var (
	ZeroInflatedPoisson          = zeroInflated(&Poisson)
	ZeroInflatedNegativeBinomial = zeroInflated(&NegativeBinomial)
)

// zeroArgs are the two ways to give the probability of a zero, before the
// base's own arguments.
var zeroArgs = []family.Arg{
	{Name: "zi", Support: support.UnitInterval},
	{Name: "zi_logits", Instead: "zi"},
}

// zeroInflated adds zeros to a family of counts.
func zeroInflated(base *family.Distribution) family.Distribution {
	return family.Distribution{
		Name:    "zero_inflated_" + base.Name,
		Summary: "0 with probability zi, else " + base.Name + "; zi_logits = log(zi/(1-zi))",
		Args:    append(zeroArgs[:2:2], base.Args...),
		Support: family.Always(support.Count),
		LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
			logZero, logOther := logChoice(b, args)
			// Both branches of the mixture at 0: log(exp(u) + exp(v)) = v + softplus(u-v).
			atZero := b.Add(logOther, base.LogDensity(b, b.Const(0), args[2:]))
			zero := b.Add(atZero, b.Softplus(b.Sub(logZero, atZero)))
			return b.Where(x, b.Add(logOther, base.LogDensity(b, x, args[2:])), zero)
		},
		LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
			logZero, logOther := logChoice(b, args)
			below := b.Add(logOther, base.LogCDF(b, x, args[2:]))
			return b.Add(logZero, b.Softplus(b.Sub(below, logZero)))
		},
		LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
			_, logOther := logChoice(b, args)
			return b.Add(logOther, base.LogCCDF(b, x, args[2:]))
		},
		Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
			_, logOther := logChoice(b, args)
			return b.Mul(b.Exp(logOther), base.Mean(b, args[2:]))
		},
		Sample: func(dst []float64, args [][]float64, rng family.Rand) {
			dst[0] = 0
			if rng.Uniform() >= successProbability(args[0], args[1]) {
				base.Sample(dst, args[2:], rng)
			}
		},
	}
}

// logChoice is log zi and log(1-zi), exact for logits.
func logChoice(b *graph.Builder, args []*graph.Node) (zero, other *graph.Node) {
	if logits := LogitsOf(args[0], args[1]); logits != nil {
		return b.LogSigmoid(logits), b.LogSigmoid(b.Neg(logits))
	}
	return family.LogOf(b, args[0]), family.Log1mOf(b, args[0])
}
