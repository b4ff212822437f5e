package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// InverseGaussian is a waiting time, of a Brownian motion with drift, with this mean
// and the variance mean³/shape.
//
//	p(x) = √(shape/(2π x³)) exp(-shape (x-mean)² / (2 mean² x)),  x > 0
//
// Johnson, Kotz and Balakrishnan 1994, vol. 1, ch. 15; draws: Michael, Schucany and
// Haas 1976, The American Statistician 30.
var InverseGaussian = family.Distribution{
	Name:    "inverse_gaussian",
	Summary: "positive number with this mean and variance mean^3/shape",
	Args: []family.Arg{
		{Name: "mean", Support: support.Positive},
		{Name: "shape", Support: support.Positive},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		mean, shape := args[0], args[1]
		logX := family.LogOf(b, x)
		off := b.Div(b.Square(b.Sub(b.Div(x, mean), b.Const(1))), x)
		return b.Add(
			b.Mul(b.Const(0.5), b.Sub(family.LogOf(b, shape), b.Add(b.Const(math.Log(2*math.Pi)), b.Mul(b.Const(3), logX)))),
			b.Mul(b.Const(-0.5), b.Mul(shape, off)))
	},
	Mean: func(_ *graph.Builder, args []*graph.Node) *graph.Node { return args[0] },
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		mean, shape := args[0][0], args[1][0]
		z := rng.Normal()
		y := mean * z * z / (2 * shape)
		x := mean * (1 + y - math.Sqrt(y*(2+y))) // the smaller root
		if rng.Uniform() > mean/(mean+x) {
			x = mean * mean / x
		}
		dst[0] = x
	},
}
