package continuous

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// StudentT is Student's t with df degrees of freedom, shifted and scaled.
//
//	p(x) = Γ((df+1)/2) / (Γ(df/2) √(df π) scale) · (1 + z²/df)^(-(df+1)/2)
//
// with z = (x - loc)/scale. Johnson, Kotz and Balakrishnan 1995, vol. 2, ch. 28.
var StudentT = family.Distribution{
	Name:    "student_t",
	Summary: "Student's t with df degrees of freedom, location loc and scale",
	Args: []family.Arg{
		{Name: "df", Support: support.Positive},
		{Name: "loc", Optional: true, Default: 0},
		{Name: "scale", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return studentTLogDensity(b, x, args[0], args[1], args[2])
	},
	Mean: func(_ *graph.Builder, args []*graph.Node) *graph.Node { return args[1] },
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return studentTLogTail(b, b.Neg(family.Standardise(b, x, args[1], args[2])), args[0])
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return studentTLogTail(b, family.Standardise(b, x, args[1], args[2]), args[0])
	},
	Power: studentTPower,
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		dst[0] = args[1][0] + args[2][0]*drawStudentT(args[0][0], rng)
	},
}

func studentTLogDensity(b *graph.Builder, x, df, loc, scale *graph.Node) *graph.Node {
	half := b.Const(0.5)
	z := family.Standardise(b, x, loc, scale)
	power := b.Mul(half, b.Add(df, b.Const(1)))
	constant := b.AddAll(
		b.Lgamma(power),
		b.Neg(b.Lgamma(b.Mul(half, df))),
		b.Mul(b.Const(-0.5), b.Add(family.LogOf(b, df), b.Const(family.LogPi))),
		b.Neg(family.LogOf(b, scale)),
	)
	return b.Sub(constant, b.Mul(power, b.Log1p(b.Div(b.Square(z), df))))
}

// studentTLogTail is log P(T > z): the incomplete beta function at df/(df + z²), halved, is
// the tail beyond |z|. Abramowitz and Stegun 26.7.1. Around the centre, where the formula
// has no derivative, a line replaces it.
func studentTLogTail(b *graph.Builder, z, df *graph.Node) *graph.Node {
	beyond := b.Sub(studentTLogTwoTails(b, z, df), b.Const(math.Ln2))
	tail := b.Where(b.Less(z, b.Const(0)), b.Log1p(b.Neg(b.Exp(beyond))), beyond)
	height := b.Exp(studentTLogDensity(b, b.Const(0), df, b.Const(0), b.Const(1)))
	line := b.Sub(b.Const(-math.Ln2), b.Mul(b.Mul(b.Const(2), height), z))
	return b.Where(b.Less(b.Abs(z), b.Const(1e-9)), line, tail)
}

// studentTLogTwoTails is log P(|T| > |z|).
func studentTLogTwoTails(b *graph.Builder, z, df *graph.Node) *graph.Node {
	half := b.Const(0.5)
	logit := b.Sub(family.LogOf(b, df), b.Log(b.Square(z)))
	return b.LogBetaI(logit, b.Mul(half, df), half)
}

// drawStudentT is a standard normal over the root of a mean chi-square.
func drawStudentT(df float64, rng family.Rand) float64 {
	return rng.Normal() / math.Sqrt(family.DrawGamma(df/2, rng)/(df/2))
}

// studentTPower needs a number as df: f^β is, up to a constant, a t density of other
// degrees of freedom.
func studentTPower(args []*graph.Node, beta float64) family.Power {
	df, known := args[0].Value()
	if !known {
		return family.Power{}
	}
	logGamma := func(x float64) float64 {
		v, _ := math.Lgamma(x)
		return v
	}
	power := beta * (df + 1) / 2
	width := 0.5 * math.Log(math.Pi*df)
	height := logGamma((df+1)/2) - logGamma(df/2) - width
	most := 1 / ((beta-1)*(df+1) + 1) // z²/df where f^(β−1) is steepest
	slope := (beta-1)*height + math.Log((df+1)/math.Sqrt(df)) + math.Log(most)/2 - ((beta-1)*(df+1)/2+1)*math.Log1p(most)
	return family.Power{Scale: args[2], LogIntegral: beta*height + width + logGamma(power-0.5) - logGamma(power), LogHeight: height,
		Location: args[1], LogSlope: slope}
}
