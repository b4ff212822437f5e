package dist

import (
	"math"

	"d3p/internal/models/graph"
)

// studentT is Student's t with df degrees of freedom, shifted and scaled.
//
//	p(x) = Γ((df+1)/2) / (Γ(df/2) √(df π) scale) · (1 + z²/df)^(-(df+1)/2)
//
// with z = (x - loc)/scale. Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 28.
var studentT = Distribution{
	Name:      "student_t",
	Summary:   "Student's t with df degrees of freedom, location loc and scale",
	Formula:   "G((df+1)/2) / (G(df/2) sqrt(df pi) scale) (1 + z^2/df)^(-(df+1)/2), z = (x - loc)/scale",
	Reference: "Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 28",
	Args: []Arg{
		{Name: "df", Support: Support{Kind: Positive}},
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: Support{Kind: Positive}, Optional: true, Default: 1},
	},
	Support: always(Support{Kind: Real}),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return studentTLogDensity(b, x, args[0], args[1], args[2])
	},
	Mean: func(_ *graph.Builder, args []*graph.Node) *graph.Node { return args[1] },
	Sample: func(dst []float64, args [][]float64, rng Rand) {
		dst[0] = args[1][0] + args[2][0]*drawStudentT(args[0][0], rng)
	},
}

func studentTLogDensity(b *graph.Builder, x, df, loc, scale *graph.Node) *graph.Node {
	half := b.Const(0.5)
	z := standardise(b, x, loc, scale)
	power := b.Mul(half, b.Add(df, b.Const(1)))
	constant := b.AddAll(
		b.Lgamma(power),
		b.Neg(b.Lgamma(b.Mul(half, df))),
		b.Mul(b.Const(-0.5), b.Add(LogOf(b, df), b.Const(logPi))),
		b.Neg(LogOf(b, scale)),
	)
	return b.Sub(constant, b.Mul(power, b.Log1p(b.Div(b.Square(z), df))))
}

// drawStudentT is a standard normal over the root of a mean chi-square.
func drawStudentT(df float64, rng Rand) float64 {
	return rng.Normal() / math.Sqrt(drawGamma(df/2, rng)/(df/2))
}
