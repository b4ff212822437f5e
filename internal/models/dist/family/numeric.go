package family

import (
	"math"

	"d3p/internal/models/graph"
)

// log √2π and log π.
const (
	HalfLog2Pi = 0.91893853320467274178032973640562
	LogPi      = 1.1447298858494001741434273513531
)

// LogOf is log x, exact where x is an exponential, or a probability behind its
// inverse link: logistic, probit, or complementary log-log, 1-exp(y). A
// parameter behind its transform and a probability behind its link so keep
// their accuracy, and their gradient, where x itself is 0 or 1 in floating
// point.
func LogOf(b *graph.Builder, x *graph.Node) *graph.Node {
	switch x.Op() {
	case graph.OpExp:
		return x.Args()[0]
	case graph.OpSigmoid:
		return b.LogSigmoid(x.Args()[0])
	case graph.OpNormalCDF:
		return b.LogNormalCDF(x.Args()[0])
	}
	if y := oneMinusExp(x); y != nil {
		return Log1mExp(b, b.Neg(y))
	}
	return b.Log(x)
}

// Log1mOf is log(1-x), exact where x is a probability behind its inverse link.
func Log1mOf(b *graph.Builder, x *graph.Node) *graph.Node {
	switch x.Op() {
	case graph.OpSigmoid:
		return b.LogSigmoid(b.Neg(x.Args()[0]))
	case graph.OpNormalCDF:
		return b.LogNormalCDF(b.Neg(x.Args()[0]))
	}
	if y := oneMinusExp(x); y != nil {
		return y
	}
	return b.Log1p(b.Neg(x))
}

// LogitOf is log(x/(1-x)), exact where x is a sigmoid.
func LogitOf(b *graph.Builder, x *graph.Node) *graph.Node {
	if x.Op() == graph.OpSigmoid {
		return x.Args()[0]
	}
	return b.Sub(LogOf(b, x), Log1mOf(b, x))
}

// oneMinusExp is y if x is written as -expm1(y), else nil.
func oneMinusExp(x *graph.Node) *graph.Node {
	if x.Op() == graph.OpNeg && x.Args()[0].Op() == graph.OpExpm1 {
		return x.Args()[0].Args()[0]
	}
	return nil
}

// LogGiven is log, or the logarithm of x if the argument is given as x.
func LogGiven(b *graph.Builder, x, log *graph.Node) *graph.Node {
	if log != nil {
		return log
	}
	return LogOf(b, x)
}

// Log1mExp is log(1-exp(-x)) for x > 0: log(-expm1(-x)) up to log 2, and
// log1p(-exp(-x)) above. Mächler 2012, "Accurately computing log(1-exp(-|a|))".
func Log1mExp(b *graph.Builder, x *graph.Node) *graph.Node {
	small := b.Less(x, b.Const(math.Ln2))
	return b.Where(small, b.Log(b.Neg(b.Expm1(b.Neg(x)))), b.Log1p(b.Neg(b.Exp(b.Neg(x)))))
}

// LogDiffExp is log(exp x - exp y) for x > y.
func LogDiffExp(b *graph.Builder, x, y *graph.Node) *graph.Node {
	return b.Add(x, Log1mExp(b, b.Sub(x, y)))
}

// Standardise is (x-loc)/scale.
func Standardise(b *graph.Builder, x, loc, scale *graph.Node) *graph.Node {
	return b.Div(b.Sub(x, loc), scale)
}

// LogFactorial is log x!.
func LogFactorial(b *graph.Builder, x *graph.Node) *graph.Node {
	return b.Lgamma(b.Add(x, b.Const(1)))
}
