package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Horseshoe is the regularised horseshoe with its local scales integrated out. Nearly all
// of x is close to 0; the rest is hardly shrunk, but not larger than a Gaussian slab
// allows.
//
//	x | λ ~ N(0, s²),  λ ~ half-Cauchy(1),  s = scale λ / √(1 + (scale λ/slab)²)
//
// The integral over t = log λ, whose density is sech(t)/π, is a sum over fixed nodes (the
// trapezoidal rule, which converges geometrically here), so that a coefficient costs one
// parameter, not two. Relative error below 1e-7 for |x| > 1e-5 scale; below, where the
// density of the original grows like log(1/|x|), it stays finite. Carvalho, Polson and
// Scott 2010, Biometrika 97(2); Piironen and Vehtari 2017, arXiv:1707.01694.
var Horseshoe = family.Distribution{
	Name:    "horseshoe",
	Summary: "regularised horseshoe: most of it near 0 by the global scale, the rest up to a slab",
	Args: []family.Arg{
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
		{Name: "slab", Support: support.Positive, Optional: true, Default: 2},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		node, logWeight := horseshoeNodes(b)
		// 1/s² = 1/(scale λ)² + 1/slab², in logs against overflow.
		local := b.Mul(b.Const(-2), b.Add(family.LogOf(b, args[0]), node))
		slab := b.Mul(b.Const(-2), family.LogOf(b, args[1]))
		logPrecision := b.Add(slab, b.Softplus(b.Sub(local, slab)))
		quadratic := b.Mul(b.Exp(logPrecision), b.Square(x))
		terms := b.Add(b.Add(logWeight, b.Mul(b.Const(0.5), logPrecision)), b.Mul(b.Const(-0.5), quadratic))
		return b.Sub(b.LogSumExp(terms, horseshoeDim), b.Const(family.HalfLog2Pi))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node { return b.Mul(b.Const(0), args[0]) },
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		local := math.Abs(args[0][0] * drawCauchy(rng))
		dst[0] = rng.Normal() * local / math.Hypot(1, local/args[1][0])
	},
}

// horseshoeDim is the dim of the nodes; no name of the language can clash.
const horseshoeDim = "(local scale)"

// horseshoeNodes are the values of log λ and the logarithms of their weights.
func horseshoeNodes(b *graph.Builder) (node, logWeight *graph.Node) {
	const step, limit = 0.25, 16
	n := int(2*limit/step) + 1
	t := make([]float64, n)
	w := make([]float64, n)
	for i := range t {
		t[i] = -limit + float64(i)*step
		w[i] = math.Log(step / math.Pi / math.Cosh(t[i]))
	}
	s := graph.Shape{{Name: horseshoeDim, Size: n}}
	return b.Consts(s, t), b.Consts(s, w)
}
