package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// SkewNormal is a normal that leans to the right for alpha > 0 and to the left for
// alpha < 0.
//
//	p(x) = (2/scale) φ(z) Φ(alpha z),  z = (x - loc)/scale
//
// Azzalini 1985, Scandinavian Journal of Statistics 12.
var SkewNormal = family.Distribution{
	Name:    "skew_normal",
	Summary: "normal that leans by alpha; loc is no mean: that is loc + scale*sqrt(2/pi)*alpha/sqrt(1+alpha^2)",
	Args: []family.Arg{
		{Name: "loc"},
		{Name: "scale", Support: support.Positive},
		{Name: "alpha"},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		z := family.Standardise(b, x, args[0], args[1])
		return b.AddAll(
			b.Const(math.Ln2-0.5*math.Log(2*math.Pi)), b.Neg(family.LogOf(b, args[1])),
			b.Mul(b.Const(-0.5), b.Square(z)), b.LogNormalCDF(b.Mul(args[2], z)))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		lean := b.Div(args[2], b.Sqrt(b.Add(b.Const(1), b.Square(args[2]))))
		return b.Add(args[0], b.Mul(b.Const(math.Sqrt(2/math.Pi)), b.Mul(args[1], lean)))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		alpha := args[2][0]
		lean := alpha / math.Sqrt(1+alpha*alpha)
		z := lean*math.Abs(rng.Normal()) + math.Sqrt(1-lean*lean)*rng.Normal()
		dst[0] = args[0][0] + args[1][0]*z
	},
}
