package survival

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// LogLogistic is a waiting time whose logarithm is logistic: its odds of having ended
// grow like x^shape. Its median is scale = exp(log_scale).
//
//	p(x) = (shape/x) σ(z) σ(-z),  z = shape log(x/scale),  x > 0
//
// Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 23.
var LogLogistic = family.Distribution{
	Name:    "log_logistic",
	Summary: "waiting time whose odds of having ended grow like x^shape; its median is scale, log_scale = log(scale)",
	Args: []family.Arg{
		{Name: "shape", Support: support.Positive},
		{Name: "scale", Support: support.Positive},
		{Name: "log_scale", Instead: "scale"},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		z := logLogisticOdds(b, x, args)
		return b.AddAll(family.LogOf(b, args[0]), b.Neg(family.LogOf(b, x)), b.LogSigmoid(z), b.LogSigmoid(b.Neg(z)))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		one := b.Const(1)
		angle := b.Mul(b.Const(math.Pi), b.Reciprocal(b.Max(args[0], one)))
		mean := b.Mul(b.Exp(family.LogGiven(b, args[1], args[2])), b.Div(angle, b.Sin(angle)))
		return b.Where(b.Less(one, args[0]), mean, b.Const(math.Inf(1)))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogSigmoid(logLogisticOdds(b, x, args))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.LogSigmoid(b.Neg(logLogisticOdds(b, x, args)))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		u := rng.Uniform()
		logScale := 0.0
		if args[1] == nil {
			logScale = args[2][0]
		} else {
			logScale = math.Log(args[1][0])
		}
		dst[0] = math.Exp(logScale + (math.Log(u)-math.Log1p(-u))/args[0][0])
	},
}

// logLogisticOdds are the log odds of having ended by x.
func logLogisticOdds(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
	return b.Mul(args[0], b.Sub(family.LogOf(b, x), family.LogGiven(b, args[1], args[2])))
}
