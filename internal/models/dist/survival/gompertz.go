package survival

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Gompertz is a waiting time whose hazard grows exponentially from rate =
// exp(log_rate) on.
//
//	p(x) = rate exp(shape x) exp(-H),  H = rate (exp(shape x) - 1)/shape,  x > 0
//
// Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 22.
var Gompertz = family.Distribution{
	Name:    "gompertz",
	Summary: "waiting time with the hazard rate*exp(shape*x); log_rate = log(rate)",
	Args: []family.Arg{
		{Name: "shape", Support: support.Positive},
		{Name: "rate", Support: support.Positive},
		{Name: "log_rate", Instead: "rate"},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		logRate, hazard := gompertzHazard(b, x, args)
		return b.Sub(b.Add(logRate, b.Mul(args[0], x)), hazard)
	},
	Mean: gompertzMean,
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		_, hazard := gompertzHazard(b, x, args)
		return family.Log1mExp(b, hazard)
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		_, hazard := gompertzHazard(b, x, args)
		return b.Neg(hazard)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		var rate float64
		if args[1] == nil {
			rate = math.Exp(args[2][0])
		} else {
			rate = args[1][0]
		}
		dst[0] = math.Log1p(args[0][0]*family.DrawExponential(rng)/rate) / args[0][0]
	},
}

// gompertzHazard is log(rate), and the cumulative hazard.
func gompertzHazard(b *graph.Builder, x *graph.Node, args []*graph.Node) (logRate, hazard *graph.Node) {
	logRate = family.LogGiven(b, args[1], args[2])
	return logRate, b.Div(b.Mul(b.Exp(logRate), b.Expm1(b.Mul(args[0], x))), args[0])
}

// gompertzMean is ∫ e^-e log(1 + e shape/rate)/shape de, the mean over the exponential
// that is the cumulative hazard, by the trapezoidal rule in t with e = exp(t - exp(-t)).
func gompertzMean(b *graph.Builder, args []*graph.Node) *graph.Node {
	const step, from, to = 0.125, -4.0, 4.0
	growth := args[0]
	if args[1] == nil {
		growth = b.Mul(growth, b.Exp(b.Neg(args[2])))
	} else {
		growth = b.Div(growth, args[1])
	}
	var sum []*graph.Node
	for t := from; t <= to; t += step {
		e := math.Exp(t - math.Exp(-t))
		weight := step * math.Exp(-e) * e * (1 + math.Exp(-t))
		sum = append(sum, b.Mul(b.Const(weight), b.Log1p(b.Mul(b.Const(e), growth))))
	}
	return b.Div(b.AddAll(sum...), args[0])
}
