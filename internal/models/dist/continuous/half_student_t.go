package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// HalfStudentT is the absolute value of a centred Student's t.
//
//	p(x) = 2 t(x; df, 0, scale),  x > 0
//
// Gelman 2006, Bayesian Analysis 1(3), "Prior distributions for variance
// parameters in hierarchical models".
var HalfStudentT = family.Distribution{
	Name:    "half_student_t",
	Summary: "absolute value of a Student's t with df degrees of freedom, location 0 and scale",
	Args: []family.Arg{
		{Name: "df", Support: support.Positive},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Positive),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Add(b.Const(math.Ln2), studentTLogDensity(b, x, args[0], b.Const(0), args[1]))
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		logit := b.Sub(family.LogOf(b, args[0]), b.Mul(b.Const(2), b.Sub(family.LogOf(b, x), family.LogOf(b, args[1]))))
		return b.LogBetaI(b.Neg(logit), b.Const(0.5), b.Mul(b.Const(0.5), args[0]))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return studentTLogTwoTails(b, b.Div(x, args[1]), args[0])
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = math.Abs(args[1][0] * drawStudentT(args[0][0], rng))
	},
}
